import { generateKeyPairSync } from 'node:crypto';
import { ConfigError, type SecretBox } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { SigningKeyRow } from './queries.js';

export const signingKeyContext = (keyId: string): string => `signing-key:${keyId}`;

/**
 * Generates an Ed25519 key (RFC 8037) and seals its private key.
 *
 * @param activeFrom - when the key becomes active, in milliseconds since the epoch.
 */
export function generateKey(box: SecretBox, now: number, activeFrom: number): SigningKeyRow {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const id = uuidv7();
  return {
    id,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateSealed: box.seal(
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      signingKeyContext(id),
    ),
    createdAt: new Date(now),
    activeFrom: new Date(activeFrom),
  };
}

/** @returns the private key as PEM. @throws ConfigError when ENCRYPTION_KEYS lacks the key that it was sealed with. */
export function openPrivateKey(box: SecretBox, { id, privateSealed }: SigningKeyRow): string {
  try {
    return box.open(privateSealed, signingKeyContext(id));
  } catch {
    throw new ConfigError([
      `ENCRYPTION_KEYS must hold the key that sealed the signing key ${id}, under the same id`,
    ]);
  }
}
