import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Person } from './access.js';
import { createSeenIds } from './seen-ids.js';
import type { Settings } from './settings.js';

const LIFETIME_S = 60;
/** The tolerated difference between the clocks of the platform and of this server. */
const CLOCK_TOLERANCE_S = 5;

const refuse = (reason: string): OAuthError => new OAuthError(OAuthErrorCode.InvalidToken, reason);

/** Whether the assertion is at fault, rather than the way to the platform's keys. */
const isRefusal = (error: unknown): error is errors.JOSEError =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  error.code !== errors.JOSEError.code;

/**
 * Returns the person of an assertion. A server that was mounted without these claims is told of nobody; neither is one whose
 * caller is in more groups than an assertion holds (`groups_overage`): both find what is for everyone alone.
 */
const toPerson = ({ email, groups }: JWTPayload): Person => ({
  email: typeof email === 'string' ? email : undefined,
  groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
});

/** Returns the person who calls. */
export const getPerson = ({ extra }: AuthInfo): Person => toPerson({ ...extra });

/**
 * Verifies the assertions that the platform signs. A valid one is for this server (`aud`), from the platform (`iss` and
 * the signature), for the organisation that this server belongs to (`org`: administrators of any organisation on the
 * platform can mount its URL), at most a minute old, and used for the first time (`jti`).
 */
export function createAssertionVerifier(
  settings: Pick<Settings, 'jwksUrl' | 'issuer' | 'audience' | 'org'>,
): OAuthTokenVerifier {
  const { jwksUrl, issuer, audience, org } = settings;
  const keys = createRemoteJWKSet(jwksUrl);
  const seenIds = createSeenIds();

  async function verify(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ['EdDSA'],
        requiredClaims: ['sub', 'org', 'iat', 'exp', 'jti'],
        maxTokenAge: LIFETIME_S,
        clockTolerance: CLOCK_TOLERANCE_S,
      });
      return payload;
    } catch (error) {
      throw isRefusal(error) ? refuse(error.message) : error;
    }
  }

  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const claims = await verify(token);
      const { sub = '', jti = '', exp = 0, scope, org: assertedOrg } = claims;
      if (assertedOrg !== org) throw refuse('the assertion is for another organisation');
      if (!seenIds.add(jti, exp + CLOCK_TOLERANCE_S)) throw refuse('the assertion was used before');
      const scopes = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [];
      return { token, clientId: sub, scopes, expiresAt: exp, extra: { ...toPerson(claims) } };
    },
  };
}
