import type { ArtifactRow } from './artifacts.queries.js';

/*
 * Agents refresh in parallel and lose answers, so a refresh token works for a moment after its first use. All that are
 * issued for it then form one generation. The first use of any of them supersedes them all: whoever has used a stolen token
 * in its overlap cannot go on beside the client, because at the next refresh of either, the other has a token that was used
 * before, which ends the grant.
 */

/** The time for which a generation works after the first use of one of its tokens. */
export const REFRESH_OVERLAP_MS = 30_000;

/** The provider counts the rotations of each token. */
export const getGeneration = ({ payload }: Pick<ArtifactRow, 'payload'>): number =>
  typeof payload['rotations'] === 'number' ? payload['rotations'] : 0;

/** @returns when the refresh token was superseded, unless it still works; null while it does. */
export function findEndOfUse(token: ArtifactRow, now: number): Date | null {
  const { consumed_at: usedAt, refresh_generation: newest, refreshed_at: refreshedAt } = token;
  const age = (newest ?? 0) - getGeneration(token);
  // A replica of the previous version has only marked the token.
  const supersededAt = age > 0 ? refreshedAt : usedAt;
  if (supersededAt === null || (age <= 1 && now - supersededAt.getTime() < REFRESH_OVERLAP_MS)) return null;
  return supersededAt;
}
