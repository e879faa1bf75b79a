import { randomUUID } from 'node:crypto';
import PostalMime from 'postal-mime';

const MIB = 1_048_576;
const MAILS_MAX = 500;
const BYTES_MAX = 128 * MIB;

/** A mail as the SMTP server got it. */
export interface CaughtMail {
  readonly id: string;
  readonly receivedAt: string;
  /** Of the envelope: who really got it, copies included. */
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly raw: Buffer;
}

/** What was caught since the start; the oldest go when there are too many. */
export interface Mailbox {
  add(mail: Pick<CaughtMail, 'from' | 'to' | 'raw'>): Promise<void>;
  /** Newest first. */
  list(): readonly CaughtMail[];
  find(id: string): CaughtMail | undefined;
  clear(): void;
}

export function createMailbox(): Mailbox {
  let mails: CaughtMail[] = [];
  const bytes = (): number => mails.reduce((sum, { raw }) => sum + raw.length, 0);
  return {
    add: async (mail) => {
      const subject = await readSubject(mail.raw);
      mails.unshift({ ...mail, id: randomUUID(), receivedAt: new Date().toISOString(), subject });
      while (mails.length > MAILS_MAX || (mails.length > 1 && bytes() > BYTES_MAX)) mails.pop();
    },
    list: () => mails,
    find: (id) => mails.find((mail) => mail.id === id),
    clear: () => {
      mails = [];
    },
  };
}

/** Of the header alone: the body may be 35 MB of base64. */
async function readSubject(raw: Buffer): Promise<string> {
  const end = raw.indexOf('\r\n\r\n');
  const { subject } = await PostalMime.parse(end < 0 ? raw : raw.subarray(0, end));
  return subject ?? '';
}
