import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Variable } from '../config/config.js';

/** A key for secrets at rest: 32 bytes, and the id by which sealed values refer to it. */
export interface BoxKey {
  readonly id: string;
  readonly key: Buffer;
}

const IV_BYTES = 12;

/** @param keys - `seal` uses the first key; `open` uses whichever the value names. */
export function createSecretBox(keys: readonly BoxKey[]) {
  const [sealing] = keys;
  if (!sealing) throw new Error('createSecretBox needs at least one key');
  return {
    seal(secret: string, context: string): string {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, iv).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'));
      return ['v1', sealing.id, ...parts].join('.');
    },

    /** @throws Error when the key is unknown, or when the value or its context was altered. */
    open(sealed: string, context: string): string {
      const [version, id, iv = '', ciphertext = '', tag = ''] = sealed.split('.');
      const found = keys.find((key) => key.id === id);
      if (version !== 'v1' || !found)
        throw new Error(`there is no key to open a value sealed with ${version}.${id}`);
      const decipher = createDecipheriv('aes-256-gcm', found.key, Buffer.from(iv, 'base64url'), {
        authTagLength: 16,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(Buffer.from(tag, 'base64url'));
      return Buffer.concat([
        decipher.update(Buffer.from(ciphertext, 'base64url')),
        decipher.final(),
      ]).toString('utf8');
    },

    /** Whether the value was sealed with the key that `seal` uses. The value isn't opened for that. */
    isSealedWithPrimaryKey: (sealed: string): boolean => sealed.startsWith(`v1.${sealing.id}.`),
  };
}

/**
 * Encrypts secrets that are stored in the database with AES-256-GCM (NIST SP 800-38D). A sealed value has the form
 * `v1.<key id>.<iv>.<ciphertext>.<tag>`, in base64url.
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
