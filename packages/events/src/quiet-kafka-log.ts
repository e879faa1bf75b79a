import type { Logger } from '@platform/service-kit';
import type { logCreator } from 'kafkajs';

/** kafkajs repeats each fault at every attempt; we tell them once, so its lines are for who looks closely. */
export const createQuietLog =
  (log: Pick<Logger, 'debug'>): logCreator =>
  () =>
  ({ namespace, log: { message } }) =>
    log.debug({ namespace }, `kafkajs: ${message}`);
