import { createHmac } from 'node:crypto';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  fetchUserInfo,
} from 'openid-client';
import { type ProviderFault, toProviderFault } from '../identity-provider/faults.js';
import type { StoredProvider } from '../identity-provider/queries.js';
import type { Claims } from './claims.js';
import type { ProviderSignInContext } from './context.js';
import { providerUnavailable, signInRefused } from './errors.js';

/** A sign-in that is under way: what the browser was sent to the provider with, and the secret that its cookie holds. */
export interface Begun {
  readonly state: string;
  readonly browser: string;
}

/** So long that nobody has to authenticate again because of it. */
const MAX_AGE_SECONDS = String(365 * 24 * 60 * 60);

const derive = ({ browser, state }: Begun, purpose: 'nonce' | 'verifier'): string =>
  createHmac('sha256', browser).update(`${purpose} ${state}`).digest('base64url');

/** Logs what went wrong at the provider, of which the person sees no details. */
function toFault({ log }: ProviderSignInContext, { orgId }: StoredProvider, error: unknown): ProviderFault {
  const fault = toProviderFault(error);
  log.warn({ orgId, fault: fault.message }, 'a sign-in with an identity provider failed');
  return fault;
}

async function getConfiguration(
  ctx: ProviderSignInContext,
  provider: StoredProvider,
): Promise<Configuration> {
  try {
    return await ctx.clients.get(provider);
  } catch (error) {
    throw providerUnavailable(toFault(ctx, provider, error));
  }
}

async function exchangeCode(
  { toRedirectUri }: ProviderSignInContext,
  { orgId, groupsClaim }: StoredProvider,
  configuration: Configuration,
  begun: Begun,
  query: string,
): Promise<Claims> {
  const answered = new URL(`${toRedirectUri(orgId)}?${query}`);
  const tokens = await authorizationCodeGrant(configuration, answered, {
    expectedState: begun.state,
    expectedNonce: derive(begun, 'nonce'),
    pkceCodeVerifier: derive(begun, 'verifier'),
    idTokenExpected: true,
  });
  const claims = tokens.claims() as Claims & { readonly sub: string };
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (claims['email'] !== undefined || !hasUserInfo) return claims;
  // Some providers send the address only on request. It is taken together with its verification, or not at all.
  const info: Claims = await fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const { email, email_verified, xms_edov, name } = info;
  return {
    ...claims,
    email,
    email_verified,
    xms_edov,
    name: claims['name'] ?? name,
    ...(groupsClaim !== null && { [groupsClaim]: claims[groupsClaim] ?? info[groupsClaim] }),
  };
}

/** Returns the address at which the person signs in; again when `isFresh`, even if signed in there. @throws AppError 503. */
export async function toAuthorizationUrl(
  ctx: ProviderSignInContext,
  provider: StoredProvider,
  begun: Begun,
  { email, isFresh }: { readonly email: string; readonly isFresh: boolean },
): Promise<URL> {
  return buildAuthorizationUrl(await getConfiguration(ctx, provider), {
    redirect_uri: ctx.toRedirectUri(provider.orgId),
    scope: provider.scopes.join(' '),
    state: begun.state,
    nonce: derive(begun, 'nonce'),
    code_challenge: await calculatePKCECodeChallenge(derive(begun, 'verifier')),
    code_challenge_method: 'S256',
    login_hint: email,
    // Whoever asks for a maximum age learns when the person authenticated (OpenID Connect Core §2, `auth_time`).
    ...(isFresh ? { prompt: 'login', max_age: '0' } : { max_age: MAX_AGE_SECONDS }),
  });
}

/**
 * Exchanges the code for what the provider says about the person. What the standards ask to be checked is checked:
 * state and `iss` of the answer, and signature, `iss`, `aud`, `exp` and `nonce` of the ID token.
 *
 * @throws AppError 400 SIGN_IN_REFUSED; 503.
 */
export async function readClaims(
  ctx: ProviderSignInContext,
  provider: StoredProvider,
  begun: Begun,
  query: string,
): Promise<Claims> {
  const configuration = await getConfiguration(ctx, provider);
  try {
    return await exchangeCode(ctx, provider, configuration, begun, query);
  } catch (error) {
    throw signInRefused(toFault(ctx, provider, error));
  }
}
