import { toDigest } from '@platform/auth';
import type { Prisma, Transaction } from '../../prisma.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { type ClientAddress, toDeviceId, describeRequest } from '../../base/caller/client.js';
import { BROWSER_PREFIX, hasDevice, recordDevice, pruneDevices } from './queries.js';

/**
 * The number of devices kept per account, and of browsers beside them: a browser that forgets its cookies must not make
 * devices unknown. A device that was dropped causes a notice again.
 */
const MAX_DEVICES = 50;

/**
 * Records the device of a sign-in, and mails a notice when the device is new, unless it is the account's first one.
 *
 * @returns whether a notice is mailed.
 */
export async function recordSignIn(
  outbox: Outbox,
  tx: Transaction,
  userId: string,
  client: ClientAddress,
  at: Date,
): Promise<boolean> {
  // A client on this machine, such as the launcher of `npm start`, isn't a device of a person.
  if (client.isLocal) return false;
  const { isNew, isFirst } = await recordDevice(tx, userId, toDeviceId(client), at);
  if (!isNew || isFirst) return false;
  await pruneDevices(tx, userId, { areBrowsers: false, keep: MAX_DEVICES });
  const detail = describeRequest(client, at);
  await outbox.add(tx, { kind: 'suspicious_login', to: { userId }, detail, requestId: client.requestId }, at);
  return true;
}

/**
 * Returns whether the account of the address has signed in from this device before; false when there is no account. It does
 * the same work in both cases, so that its time doesn't reveal which one it is.
 */
export const isKnownDevice = (
  db: Prisma | Transaction,
  email: string,
  client: ClientAddress,
): Promise<boolean> => hasDevice(db, email, toDeviceId(client));

const toBrowserId = (secret: string): string => BROWSER_PREFIX + toDigest(secret);

/** Records that the account has signed in with the browser that has the secret, and mails nothing. */
export async function recordBrowser(
  prisma: Prisma,
  userId: string,
  {
    secret,
    client,
    at,
  }: {
    readonly secret: string;
    readonly client: ClientAddress;
    readonly at: Date;
  },
): Promise<void> {
  if (client.isLocal) return;
  const { isNew } = await recordDevice(prisma, userId, toBrowserId(secret), at);
  if (isNew) await pruneDevices(prisma, userId, { areBrowsers: true, keep: MAX_DEVICES });
}

/**
 * Returns the place of an attempt: the browser with the secret, if the account of the address has signed in with it. Unlike
 * a network and the name of a program, nobody else can claim it.
 */
export async function findPlace(
  prisma: Prisma,
  email: string,
  secret: string | undefined,
): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  const id = toBrowserId(secret);
  return (await hasDevice(prisma, email, id)) ? id : undefined;
}
