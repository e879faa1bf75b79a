import { conflict, notFound } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
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

/** From published to active: twice what the slowest takes to notice (a replica's poll and a service's poll behind it). */
const ACTIVATION_DELAY_MS = 20_000;

export interface RotateOptions {
  /** From published to active, in milliseconds. */
  readonly activationDelayMs?: number;
  /** Also when the keys that are there can't be opened any more, because ENCRYPTION_KEYS are lost. */
  readonly isForced?: boolean;
}

/**
 * Publishes a new key; it takes over after the delay, or at once when the newest is lost. What lost keys have signed stays
 * good; an empty private half, which can be sealed anew, takes the place of theirs.
 *
 * @returns its id.
 * @throws ConfigError when the box doesn't open the newest key, and it isn't forced.
 */
export async function rotateKey(
  db: Prisma,
  box: SecretBox,
  now: number,
  { activationDelayMs = ACTIVATION_DELAY_MS, isForced = false }: RotateOptions = {},
): Promise<string> {
  const [newest] = await findKeys(db);
  const lost = isForced ? (await findAllKeys(db)).filter((one) => !canOpen(box, one)) : [];
  const isReplacing = newest !== undefined && lost.some(({ id }) => id === newest.id);
  // A key sealed with what the services can't open would stop them from signing once it is active.
  if (newest && !isReplacing) openPrivateKey(box, newest);
  const activeFrom = isReplacing ? Math.max(now, newest.activeFrom.getTime() + 1) : now + activationDelayMs;
  const key = generateKey(box, now, activeFrom);
  // All or nothing: without the new key an empty half would be the one to sign with.
  await db.$transaction(async (tx) => {
    for (const { id } of lost) await replacePrivateKey(tx, id, box.seal('', signingKeyContext(id)));
    await insertKey(tx, key);
  });
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
 * Takes a key out of the JWKS: what it signed is refused within a few seconds, sessions included.
 *
 * @throws AppError when it is the last key, or when active tokens are signed with it and it isn't forced.
 */
export async function removeSigningKey(
  db: Prisma,
  keyId: string,
  now: number,
  isForced: boolean,
): Promise<void> {
  const keys = await findKeys(db);
  if (!keys.some(({ id }) => id === keyId)) throw notFound(`There is no key ${keyId}`);
  // Not the one that signs: replicas would go on minting with it, or an older key would sign again.
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
