import { hash, timingSafeEqual } from 'node:crypto';
import { INTROSPECTION_SCOPE, toDigest } from '@platform/auth';
import { CRAWL_FACTS_SCOPE, MAIL_FACTS_SCOPE } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { ServiceClient } from '../../base/config-values.js';
import type { ClientCredentials } from './client-credentials.js';
import { oauthError } from './oauth-errors.js';
import type { SigningKeys } from '../signing-keys/service.js';
import type { Prisma } from '../../prisma.js';

export interface NewServiceCredential {
  readonly id: string;
  readonly clientId: string;
  readonly tokenHash: string;
  readonly expiresAt: Date;
}

const insertServiceCredential = (db: Prisma, credential: NewServiceCredential): Promise<unknown> =>
  db.serviceCredential.create({ data: credential, select: { id: true } });

/** The lifetime is short, because a removed client keeps its access until its credential expires. */
const LIFETIME_SECONDS = 300;
/** The time for which identity reuses its own credential: for many mails, but well short of its expiry. */
const OWN_REUSE_MS = 200_000;

export interface ServiceToken {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly scope: string;
}

/**
 * @param requested - scopes, separated by spaces; empty requests all that the client has.
 * @throws AppError 401 `invalid_client` for an unknown pair, 400 `invalid_scope` (RFC 6749 §5.2).
 */
export type IssueServiceToken = (credentials: ClientCredentials, requested?: string) => Promise<ServiceToken>;

const digest = (value: string): Buffer => hash('sha256', value, 'buffer');

interface MintDeps {
  readonly prisma: Prisma;
  readonly keys: SigningKeys;
  readonly clock: Clock;
}

/** Stores the credential's hash, as for every credential: a leaked signing key isn't enough to forge one. */
async function mintServiceToken({ prisma, keys, clock }: MintDeps, clientId: string, scope: string) {
  const iat = Math.floor(clock() / 1_000);
  const exp = iat + LIFETIME_SECONDS;
  const id = uuidv7();
  const { token } = await keys.mint({ sub: clientId, jti: id, kind: 'service', scope, iat, exp });
  const expiresAt = new Date(exp * 1_000);
  await insertServiceCredential(prisma, { id, clientId, tokenHash: toDigest(token), expiresAt });
  return token;
}

/** Creates a function that returns identity's own credential for the mail service, which needs no client secret. */
export function createMailServiceToken(minting: MintDeps): () => Promise<string> {
  let current: { readonly token: Promise<string>; readonly renewAt: number } | undefined;
  return () => {
    const now = minting.clock();
    if (current && now < current.renewAt) return current.token;
    const token = mintServiceToken(minting, 'identity', 'SEND_MAIL');
    current = { token, renewAt: now + OWN_REUSE_MS };
    token.catch(() => {
      current = undefined;
    });
    return token;
  };
}

export function createServiceCredentials(
  deps: MintDeps & {
    readonly clients: readonly ServiceClient[];
    /** The client of the mail service, which may fetch SMTP configurations and report mails. Every client may introspect. */
    readonly configClientId: string;
    /** The client that may report facts, which become entries of any organisation's audit. */
    readonly crawlClientId: string;
  },
): IssueServiceToken {
  const secrets = new Map(deps.clients.map(({ id, secret }) => [id, digest(secret)]));
  const decoy = digest(uuidv7());
  const getScopes = (clientId: string): readonly string[] => [
    INTROSPECTION_SCOPE,
    ...(clientId === deps.configClientId ? ['FETCH_CONFIG', MAIL_FACTS_SCOPE] : []),
    ...(clientId === deps.crawlClientId ? [CRAWL_FACTS_SCOPE] : []),
  ];
  return async ({ id: clientId, secrets: presented }, requested = '') => {
    // An unknown client takes as long as a wrong secret.
    const expected = secrets.get(clientId) ?? decoy;
    const isCorrect = presented.map((secret) => timingSafeEqual(expected, digest(secret))).includes(true);
    if (!isCorrect) throw oauthError('invalid_client', 'Unknown client or wrong secret');
    const granted = getScopes(clientId);
    const asked = requested.split(' ').filter((scope) => scope !== '');
    if (!asked.every((scope) => granted.includes(scope)))
      throw oauthError('invalid_scope', 'The client does not have every scope that was asked for');
    const scope = (asked.length > 0 ? [...new Set(asked)] : granted).join(' ');
    const token = await mintServiceToken(deps, clientId, scope);
    return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME_SECONDS, scope };
  };
}
