import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Variable } from '../config/config.js';

/** A key for secrets at rest: 32 bytes, and the id by which sealed values refer to it. */
export interface BoxKey {
  readonly id: string;
  readonly key: Buffer;
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const DOT = 0x2e;

/** @param keys - the first key seals; a sealed value names the one that opens it. */
export function createSecretBox(keys: readonly BoxKey[]) {
  const [sealing] = keys;
  if (!sealing) throw new Error('createSecretBox needs at least one key');

  /** Returns the nonce, the ciphertext and the tag. */
  const encrypt = (bytes: Buffer, context: string): [Buffer, Buffer, Buffer] => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, sealing.key, iv).setAAD(Buffer.from(context));
    const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return [iv, ciphertext, cipher.getAuthTag()];
  };

  function decrypt(name: string, [iv, ciphertext, tag]: [Buffer, Buffer, Buffer], context: string): Buffer {
    const [version, id] = name.split('.');
    const found = keys.find((key) => key.id === id);
    if (version !== VERSION || !found) throw new Error(`there is no key to open a value sealed with ${name}`);
    const decipher = createDecipheriv(CIPHER, found.key, iv, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  }

  return {
    seal: (secret: string, context: string): string =>
      [
        VERSION,
        sealing.id,
        ...encrypt(Buffer.from(secret), context).map((part) => part.toString('base64url')),
      ].join('.'),

    /** @throws Error when the key is unknown, or when the value or its context was altered. */
    open(sealed: string, context: string): string {
      const [version = '', id = '', ...parts] = sealed.split('.');
      const [iv = '', ciphertext = '', tag = ''] = parts;
      const bytes = [iv, ciphertext, tag].map((part) => Buffer.from(part, 'base64url'));
      return decrypt(`${version}.${id}`, bytes as [Buffer, Buffer, Buffer], context).toString('utf8');
    },

    /** Seals bytes, of which Base64 would make a third more. */
    sealBytes: (bytes: Buffer, context: string): Buffer =>
      Buffer.concat([Buffer.from(`${VERSION}.${sealing.id}.`), ...encrypt(bytes, context)]),

    /** Opens what `sealBytes` returned. @throws Error as `open` does. */
    openBytes(sealed: Buffer, context: string): Buffer {
      const end = sealed.indexOf(DOT, sealed.indexOf(DOT) + 1);
      const [iv, tag] = [end + 1 + IV_BYTES, sealed.length - TAG_BYTES];
      return decrypt(
        sealed.toString('latin1', 0, end),
        [sealed.subarray(end + 1, iv), sealed.subarray(iv, tag), sealed.subarray(tag)],
        context,
      );
    },

    /** What every value begins with that is sealed now. */
    prefix: `${VERSION}.${sealing.id}.`,
  };
}

/**
 * Encrypts secrets that are stored in the database with AES-256-GCM (NIST SP 800-38D). A sealed text has the form
 * `v1.<key id>.<iv>.<ciphertext>.<tag>`, in base64url; sealed bytes are `v1.<key id>.` and then these three as they are.
 *
 * The `context` is authenticated as well: a value that is copied to another row can't be opened there.
 */
export type SecretBox = ReturnType<typeof createSecretBox>;

/** `id:key, …`: the first key encrypts and all keys decrypt. To rotate, put a new key in front. */
export const encryptionKeys: Variable<readonly BoxKey[]> = {
  mustBe: 'a comma-separated list of <id>:<32 bytes in base64>, made with: openssl rand -base64 32',
  parse(value) {
    const keys = value.split(',').map((item) => {
      const [, id, key] = /^\s*([\w-]{1,32}):([\w+/=-]+)\s*$/.exec(item) ?? [];
      return id !== undefined && key !== undefined ? { id, key: Buffer.from(key, 'base64') } : undefined;
    });
    return keys.every((key) => key?.key.length === 32) ? (keys as BoxKey[]) : undefined;
  },
};
