import { conflict, notFound, type SecretBox } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { generateKey, openPrivateKey, signingKeyContext } from './key.js';
import {
  countActiveTokens,
  findAllKeys,
  findKeys,
  insertKey,
  removeKey,
  replacePrivateKey,
  type SigningKeyRow,
} from './queries.js';

/** The time from published to active: twice the slowest propagation, a replica's poll followed by another service's. */
const ACTIVATION_DELAY_MS = 20_000;

export interface RotateOptions {
  /** Rotate even when the existing private keys can't be opened, because ENCRYPTION_KEYS are lost. */
  readonly isForced?: boolean;
}

/**
 * Publishes a new key, which becomes active after the delay, or at once when the newest key is lost. Credentials that
 * lost keys have signed stay valid; an empty value, which can be re-encrypted, replaces their private keys.
 *
 * @param db - a transaction, because without the new key an emptied one would be the one to sign with.
 * @returns the id of the new key.
 * @throws ConfigError when the newest key can't be opened and the rotation isn't forced.
 */
export async function rotateKey(
  db: Transaction,
  box: SecretBox,
  now: number,
  { isForced = false }: RotateOptions = {},
): Promise<string> {
  const [newest] = await findKeys(db);
  const lost = isForced ? (await findAllKeys(db)).filter((one) => !canOpen(box, one)) : [];
  const isReplacing = newest !== undefined && lost.some(({ id }) => id === newest.id);
  // If this command has other ENCRYPTION_KEYS than the service, the service couldn't sign with the new key.
  if (newest && !isReplacing) openPrivateKey(box, newest);
  const activeFrom = isReplacing ? Math.max(now, newest.activeFrom.getTime() + 1) : now + ACTIVATION_DELAY_MS;
  const key = generateKey(box, now, activeFrom);
  for (const { id } of lost) await replacePrivateKey(db, id, box.seal('', signingKeyContext(id)));
  await insertKey(db, key);
  return key.id;
}

function canOpen(box: SecretBox, key: SigningKeyRow): boolean {
  try {
    openPrivateKey(box, key);
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes a key from the JWKS: credentials that it signed, sessions included, are rejected within a few seconds.
 *
 * @throws AppError 404; 409 when the key is active, or when active tokens are signed with it and it isn't forced.
 */
export async function removeSigningKey(
  db: Transaction,
  keyId: string,
  now: number,
  isForced: boolean,
): Promise<void> {
  const keys = await findKeys(db);
  if (!keys.some(({ id }) => id === keyId)) throw notFound(`There is no key ${keyId}`);
  // The active key can't be removed: replicas would keep minting with it for a while, and then with an older key.
  if (keys.find(({ activeFrom }) => activeFrom.getTime() <= now)?.id === keyId)
    throw conflict('KEY_SIGNS', 'This key signs: rotate first, and wait until the new one is active');
  const tokens = await countActiveTokens(db, keyId);
  if (tokens > 0 && !isForced)
    throw conflict(
      'KEY_IN_USE',
      `${tokens} active tokens are signed with it and would be refused: --force if that is meant`,
    );
  await removeKey(db, keyId, new Date(now));
}

export async function describeKeys(db: Prisma, now: number): Promise<string> {
  const keys = await findKeys(db);
  const active = keys.find(({ activeFrom }) => activeFrom.getTime() <= now);
  return keys
    .map((key) => {
      const state = key === active ? 'active' : key.activeFrom.getTime() > now ? 'published' : 'retired';
      return `${key.id}  ${state.padEnd(9)}  from ${key.activeFrom.toISOString()}\n`;
    })
    .join('');
}
