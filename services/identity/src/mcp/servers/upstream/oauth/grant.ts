import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** What a sign-in at a server has brought. It is stored sealed, for its server and account. */
export interface Grant {
  readonly tokens: StoredOAuthTokens;
  /** The client that the tokens were issued to. */
  readonly client: StoredOAuthClientInformation;
  readonly discovery: OAuthDiscoveryState;
  /** Milliseconds since the epoch; null when the server did not say. */
  readonly expiresAt: number | null;
  /** From when on the tokens are renewed; null as well. */
  readonly dueAt: number | null;
}

/** A sign-in that has begun. It is stored sealed, too. */
export type Flow = Pick<Grant, 'client' | 'discovery'> & { readonly codeVerifier: string };

/** Tokens are renewed this long before they expire, or when half of their time is over where that is later. */
const RENEWED_BEFORE_MS = 60_000;

/** What can be sent in a header: a server that issues anything else would make errors, and what reports them, contain it. */
const TOKEN_FORM = /^[\x21-\x7e]{1,16384}$/;

export const parseGrant = (json: string): Grant => JSON.parse(json) as Grant;

/** @throws Error for an access token that no request can have. */
export function createGrant(
  tokens: StoredOAuthTokens,
  { client, discovery }: Pick<Grant, 'client' | 'discovery'>,
  now: number,
): Grant {
  if (!TOKEN_FORM.test(tokens.access_token)) throw new Error('the access token has another form');
  const { expires_in: seconds = 0 } = tokens;
  // Tokens that have expired when they are issued are meant to last.
  if (!(seconds > 0)) return { tokens, client, discovery, expiresAt: null, dueAt: null };
  const lifetimeMs = seconds * 1_000;
  const expiresAt = now + lifetimeMs;
  const dueAt = expiresAt - Math.min(RENEWED_BEFORE_MS, lifetimeMs / 2);
  return { tokens, client, discovery, expiresAt, dueAt };
}

/** Whether the tokens have to be renewed before the next call, and can be. */
export const isDue = ({ tokens, dueAt }: Grant, now: number): boolean =>
  tokens.refresh_token !== undefined && dueAt !== null && dueAt <= now;

/** Returns the grant of an account that has to sign in again: nothing renews it. */
export function endGrant({ tokens: { refresh_token: _ended, ...tokens }, ...grant }: Grant): Grant {
  return { ...grant, tokens };
}

/** Whether the tokens are of no use any more, and nothing renews them. */
export const hasEnded = ({ tokens, expiresAt }: Grant, now: number): boolean =>
  tokens.refresh_token === undefined && expiresAt !== null && expiresAt <= now;

export const isExpired = ({ expiresAt }: Grant, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;
