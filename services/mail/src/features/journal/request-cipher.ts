import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The purpose of the stored data is part of the key derivation, so the data can be read only while the purpose stays
 * the same.
 */
const purposes = { resend: 'letters of mails that failed', content: 'contents of mails' } as const;

/** @param secret - this service's secret. What was encrypted with an earlier one can't be decrypted any more. */
export function createRequestCipher(secret: string, purpose: keyof typeof purposes) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purposes[purpose], 32));
  return {
    encrypt(request: object, mailId: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(mailId));
      const encrypted = Buffer.concat([iv, cipher.update(JSON.stringify(request), 'utf8'), cipher.final()]);
      return Buffer.concat([encrypted, cipher.getAuthTag()]).toString('base64');
    },

    /** @returns the request, or undefined when it was encrypted with another key or has been tampered with. */
    decrypt(encrypted: string, mailId: string): unknown {
      const bytes = Buffer.from(encrypted, 'base64');
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

/**
 * Encrypts the requests that are stored for a resend, because they contain codes and links, and the contents that are
 * kept for administrators (AES-256-GCM). The mail's id is authenticated with each, so that none can be moved to another
 * mail.
 */
export type RequestCipher = ReturnType<typeof createRequestCipher>;
