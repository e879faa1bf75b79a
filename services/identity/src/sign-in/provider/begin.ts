import { randomBytes } from 'node:crypto';
import { toDigest } from '@platform/auth';
import type { StoredProvider } from '../identity-provider/queries.js';
import type { ProviderSignInContext } from './context.js';
import { toAuthorizationUrl } from './exchange.js';
import { insertSignIn } from './queries.js';

const LIFETIME_MS = 10 * 60_000;

/** Stores a sign-in that a browser begins. @returns the address of the provider to which it goes. @throws AppError 503. */
export async function beginSignIn(
  ctx: ProviderSignInContext,
  provider: StoredProvider,
  browser: string,
  {
    email,
    returnTo,
    sessionId = null,
  }: { readonly email: string; readonly returnTo: string; readonly sessionId?: string | null },
): Promise<URL> {
  const state = randomBytes(32).toString('base64url');
  const isFresh = sessionId !== null;
  const url = await toAuthorizationUrl(ctx, provider, { state, browser }, { email, isFresh });
  const createdAt = new Date(ctx.clock());
  await insertSignIn(ctx.prisma, {
    stateHash: toDigest(state),
    orgId: provider.orgId,
    revision: provider.revision,
    browserHash: toDigest(browser),
    returnTo,
    sessionId,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + LIFETIME_MS),
  });
  return url;
}
