import { hkdfSync } from 'node:crypto';
import { createSecretBox } from '@platform/service-kit';
import type pg from 'pg';
import { type ArtifactRow, deleteArtifact, hashArtifactId, saveSuccessor } from './artifacts.sql.js';

/*
 * A refresh token has one successor, and works until that is used for the first time: agents refresh in parallel, lose
 * responses, and sleep for hours before they repeat a request. Each repetition returns the same successor, so there is only
 * ever one chain. A token whose successor has been used was copied by somebody: its use ends the grant (RFC 9700 §4.14.2).
 *
 * The successor is stored under a key that is derived from the token itself, of which the database has only the hash.
 */

/** The provider counts the rotations that led to each token. */
export const getRotations = ({ payload }: Pick<ArtifactRow, 'payload'>): number =>
  typeof payload?.['rotations'] === 'number' ? payload['rotations'] : 0;

/** Whether the successor of a refresh token has been used. */
export const isSuperseded = (token: ArtifactRow): boolean =>
  token.payload === null || (token.refresh_generation ?? 0) > getRotations(token) + 1;

/**
 * Returns the payload of a stored token. It is deleted once the successor has been used: what the provider needs to end
 * the grant is in the grant.
 */
export const readPayload = ({ payload, ...token }: ArtifactRow): object =>
  payload ?? {
    kind: 'RefreshToken',
    grantId: token.grant_id,
    clientId: token.client_id,
    accountId: token.user_id,
    scope: token.scopes?.join(' '),
    exp: Math.floor(token.expires_at.getTime() / 1_000),
  };

const createBox = (token: string) =>
  createSecretBox([
    { id: 'token', key: Buffer.from(hkdfSync('sha256', token, '', 'successor of a refresh token', 32)) },
  ]);

/**
 * Makes a new refresh token the successor of the presented one, unless that has a successor; then the new one is
 * deleted.
 *
 * @returns the successor to respond with; null when that of the presented token has been used meanwhile.
 */
export async function settleSuccessor(
  pool: pg.Pool,
  presented: string,
  issued: string,
): Promise<string | null> {
  const box = createBox(presented);
  const idHash = hashArtifactId(presented);
  const link = {
    sealed: box.seal(issued, idHash),
    successorHash: hashArtifactId(issued),
  };
  const stored = await saveSuccessor(pool, idHash, link);
  const successor = stored === undefined ? null : box.open(stored, idHash);
  if (successor !== issued) await deleteArtifact(pool, 'RefreshToken', hashArtifactId(issued));
  return successor;
}
