import type { Prisma, Transaction } from '../../resources.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { type ClientAddress, toDeviceId, describeRequest } from './client.js';
import { findUserByEmail } from '../users/queries.js';
import { isKnownDeviceId, recordDevice, pruneDevices } from './queries.js';

/** Per account; who changes networks all day is told of an old one again rather than stored for ever. */
const MAX_DEVICES = 50;

/** Notes where a sign-in came from; a network and program not seen before, but for the first, is told by mail. */
export type RecordSignIn = (
  tx: Transaction,
  userId: string,
  client: ClientAddress,
  at: Date,
) => Promise<void>;

export const createRecordSignIn =
  (outbox: Outbox): RecordSignIn =>
  async (tx, userId, client, at) => {
    // What runs beside the service, as the launcher of `npm start` does, is not where the person signs in from.
    if (client.isLocal) return;
    const { isNew, isFirst } = await recordDevice(tx, userId, toDeviceId(client), at);
    if (!isNew || isFirst) return;
    await pruneDevices(tx, userId, MAX_DEVICES);
    const detail = describeRequest(client, at);
    await outbox.add(
      tx,
      { kind: 'suspicious_login', to: { userId }, detail, requestId: client.requestId },
      at,
    );
  };

/** Whether the account of the address has signed in from there before; false when there is no such account. */
export async function isKnownDevice(
  db: Prisma | Transaction,
  email: string,
  client: ClientAddress,
): Promise<boolean> {
  const account = await findUserByEmail(db, email);
  return account !== null && isKnownDeviceId(db, account.id, toDeviceId(client));
}
