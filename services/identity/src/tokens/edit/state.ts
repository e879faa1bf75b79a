export const tokenStates = ['active', 'expired', 'revoked'] as const;
export type TokenState = (typeof tokenStates)[number];

export interface StateRow {
  readonly status: TokenState;
  readonly expires_at: Date | null;
  readonly successor_id: string | null;
}

/**
 * Returns the state at `now`. The expiry job marks a token a minute late at most; a token that was rotated is then
 * revoked rather than expired.
 */
export function toState(
  { status, expires_at: expiresAt, successor_id: successor }: StateRow,
  now: number,
): TokenState {
  if (status !== 'active' || expiresAt === null || expiresAt.getTime() > now) return status;
  return successor === null ? 'expired' : 'revoked';
}
