import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Data that was encrypted for one purpose cannot be read for another one. */
const purposes = {
  request: 'requests of mails',
  content: 'contents of mails',
  token: 'access tokens',
} as const;

/** @param secret - this service's secret. What was encrypted with an earlier one can't be decrypted any more. */
export function createMailCipher(secret: string, purpose: keyof typeof purposes) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purposes[purpose], 32));

  function encryptBytes(bytes: Buffer, context: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
    return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  function decryptBytes(bytes: Buffer, context: string): Buffer | undefined {
    const end = bytes.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(end));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, end)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  return {
    encryptBytes,
    /** @returns the bytes, or undefined when they were encrypted with another key or context, or were tampered with. */
    decryptBytes,

    encrypt: (value: object, context: string): string =>
      encryptBytes(Buffer.from(JSON.stringify(value)), context).toString('base64'),

    /** @returns the value, or undefined as `decryptBytes` does. */
    decrypt(encrypted: string, context: string): unknown {
      const bytes = decryptBytes(Buffer.from(encrypted, 'base64'), context);
      return bytes && (JSON.parse(bytes.toString('utf8')) as unknown);
    },
  };
}

/**
 * Encrypts what is stored of mails, because it contains codes and links, and access tokens (AES-256-GCM). The context,
 * such as the mail's id, is authenticated with each value, so that none can be moved to another mail.
 */
export type MailCipher = ReturnType<typeof createMailCipher>;
