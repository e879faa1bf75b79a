import { formatToken, toDigest } from '@platform/auth';
import type { SigningKeys } from '../../credentials/signing-keys/service.js';

export interface MintDeps {
  readonly keys: SigningKeys;
  /** The prefix with which tokens are shown. */
  readonly tokenPrefix: string;
}

export interface MintedToken {
  /** The token as it is shown, once. */
  readonly accessToken: string;
  readonly tokenHash: string;
  readonly signingKeyId: string;
}

/** Signs a token. @param token.now, token.expiresAt - milliseconds since the epoch; null for a token that never expires. */
export async function mintToken(
  { keys, tokenPrefix }: MintDeps,
  token: {
    readonly id: string;
    readonly orgId: string;
    readonly ownerId: string;
    readonly scopes: readonly string[];
    readonly now: number;
    readonly expiresAt: number | null;
  },
): Promise<MintedToken> {
  const { id: jti, orgId: org, ownerId: sub, scopes, now, expiresAt } = token;
  const claims = { sub, org, jti, kind: 'pat' as const, scope: scopes.join(' ') };
  const times = {
    iat: Math.floor(now / 1_000),
    ...(expiresAt === null ? {} : { exp: expiresAt / 1_000 }),
  };
  const { token: jwt, keyId } = await keys.mint({ ...claims, ...times });
  return { accessToken: formatToken(tokenPrefix, jwt), tokenHash: toDigest(jwt), signingKeyId: keyId };
}
