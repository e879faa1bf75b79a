import { randomBytes } from 'node:crypto';
import { toDigest } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import type { StoredProvider } from '../identity-provider/queries.js';
import type { Exchange } from './exchange.js';
import { insertSignIn } from './queries.js';

const LIFETIME_MS = 10 * 60_000;

/** Stores a sign-in that a browser begins. @returns the address of the provider to which it goes. @throws AppError 503. */
export async function beginSignIn(
  {
    prisma,
    exchange,
    clock,
  }: { readonly prisma: Prisma; readonly exchange: Exchange; readonly clock: Clock },
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
  const url = await exchange.toAuthorizationUrl(provider, { state, browser }, { email, isFresh });
  const createdAt = new Date(clock());
  await insertSignIn(prisma, {
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
