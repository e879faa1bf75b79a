import type { Clock, Logger, SecretBox, Shutdown } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import { createSigningKeys, type SigningKeys } from './service.js';

/** Loads the signing keys, creating the first one, and follows their changes. @throws when they can't be decrypted. */
export async function startSigningKeys(deps: {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly issuer: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): Promise<SigningKeys> {
  const keys = createSigningKeys(deps);
  await keys.start();
  deps.shutdown.on('workers', 'signing keys', keys.stop);
  return keys;
}
