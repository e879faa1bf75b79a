import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Codes and links are in letters: what is kept of one is encrypted (AES-256-GCM), and bound to its mail. */
export interface LetterSeal {
  seal(letter: object, mailId: string): string;
  /** @returns undefined when it was sealed with another key, or changed. */
  open(sealed: string, mailId: string): unknown;
}

/** @param secret - of this service; letters that were sealed with an earlier one can't be opened any more. */
export function createLetterSeal(secret: string): LetterSeal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'letters of mails that failed', 32));
  return {
    seal(letter, mailId) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(mailId));
      const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(letter), 'utf8'), cipher.final()]);
      return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, mailId) {
      const bytes = Buffer.from(sealed, 'base64');
      const end = bytes.length - TAG_BYTES;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(mailId))
          .setAuthTag(bytes.subarray(end));
        const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, end)), decipher.final()]);
        return JSON.parse(text.toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
}
