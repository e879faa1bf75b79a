import type { Logger } from '@platform/service-kit';
import type { logCreator } from 'kafkajs';

/** Logs kafkajs' lines on `debug`: it repeats each fault at every attempt, and the relay reports faults once. */
export const createQuietLog =
  (log: Pick<Logger, 'debug'>): logCreator =>
  () =>
  ({ namespace, log: { message } }) =>
    log.debug({ namespace }, `kafkajs: ${message}`);
