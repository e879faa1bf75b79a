import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';

const MIB = 1_048_576;
const MAX_MAILS = 500;
const MAX_BYTES = 128 * MIB;

/** The data of a mail that the list shows. */
export interface CaughtMail {
  readonly id: string;
  readonly receivedAt: string;
  /** The recipients of the envelope, copies included. */
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly sizeBytes: number;
}

/** A mail as the SMTP server received it. */
export interface ReceivedMail extends Pick<CaughtMail, 'from' | 'to'> {
  readonly raw: Buffer;
}

export type Mailbox = Awaited<ReturnType<typeof openMailbox>>;

/**
 * Opens the mails that were caught before, and keeps new ones; the oldest are deleted when there are too many. A mail is
 * two files: `<id>.eml`, and `<id>.json` with what the list shows. The second is written last, and as a whole, so that a
 * mail of which only the first exists was never accepted.
 *
 * @param folder - created when missing, for this user alone: the mails hold codes and links that let people in.
 */
export async function openMailbox(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let mails = await readMails(folder);

  async function remove(unwanted: readonly CaughtMail[]): Promise<void> {
    for (const { id } of unwanted) {
      await rm(join(folder, `${id}.json`), { force: true });
      await rm(join(folder, `${id}.eml`), { force: true });
    }
  }

  async function removeOldest(): Promise<void> {
    let bytes = 0;
    const kept = mails.filter(({ sizeBytes }, index) => {
      bytes += sizeBytes;
      return index === 0 || (index < MAX_MAILS && bytes <= MAX_BYTES);
    });
    const unwanted = mails.filter((mail) => !kept.includes(mail));
    mails = kept;
    await remove(unwanted);
  }

  return {
    async add({ raw, ...envelope }: ReceivedMail): Promise<void> {
      const mail: CaughtMail = {
        id: randomUUID(),
        receivedAt: new Date().toISOString(),
        ...envelope,
        subject: await readSubject(raw),
        sizeBytes: raw.length,
      };
      const path = join(folder, mail.id);
      await writeFile(`${path}.eml`, raw, { mode: 0o600 });
      await writeFile(`${path}.part`, JSON.stringify(mail), { mode: 0o600 });
      await rename(`${path}.part`, `${path}.json`);
      mails = [mail, ...mails];
      await removeOldest();
    },
    /** Lists the mails, newest first. */
    list: (): readonly CaughtMail[] => mails,
    find: (id: string): CaughtMail | undefined => mails.find((mail) => mail.id === id),
    readRaw: ({ id }: CaughtMail): Promise<Buffer> => readFile(join(folder, `${id}.eml`)),
    async clear(): Promise<void> {
      const unwanted = mails;
      mails = [];
      await remove(unwanted);
    },
  };
}

async function readMails(folder: string): Promise<readonly CaughtMail[]> {
  const names = new Set(await readdir(folder));
  const mails: CaughtMail[] = [];
  for (const name of names) {
    const id = name.slice(0, name.lastIndexOf('.'));
    if (!names.has(`${id}.json`) || !names.has(`${id}.eml`)) await rm(join(folder, name), { force: true });
    else if (name.endsWith('.json')) {
      const mail = parseMail(await readFile(join(folder, name), 'utf8'));
      if (mail) mails.push(mail);
      else await rm(join(folder, name), { force: true });
    }
  }
  return mails.toSorted((a, b) => b.receivedAt.localeCompare(a.receivedAt));
}

/** @returns undefined for a file that a crash of the machine left empty or cut off. */
function parseMail(text: string): CaughtMail | undefined {
  try {
    return JSON.parse(text) as CaughtMail;
  } catch {
    return undefined;
  }
}

/** Reads only the header, because the body may be 35 MB of base64. */
async function readSubject(raw: Buffer): Promise<string> {
  const end = raw.indexOf('\r\n\r\n');
  const { subject } = await PostalMime.parse(end < 0 ? raw : raw.subarray(0, end));
  return subject ?? '';
}
