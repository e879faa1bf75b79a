import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Logger, SecretBox } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { openJson, sealJson } from '../../sealed-json.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { SmtpOauth } from '../smtp-configuration/oauth.js';
import {
  claimTokenRequest,
  endToken,
  findToken,
  storeToken,
  storeTokenProblem,
  type TokenKey,
  type TokenRow,
} from './smtp-oauth.sql.js';
import { type RequestToken, TokenFault } from './request-token.js';

/*
 * The life of a row of smtp_tokens:
 *
 *   claimed    a replica requests a token until fetching_until; the others wait for it
 *   issued     all replicas use the token until it ends; from refresh_at on, one of them requests the next one meanwhile
 *   failed     the provider is left alone for RETRY_MS
 */

/** Exceeds the duration of any request. */
const LEASE_MS = 15_000;
const POLL_MS = 200;
/** Between two attempts to store a token. */
const STORE_RETRY_MS = 500;
/** Between two requests, after the provider has refused one or the SMTP server the token. */
const RETRY_MS = 30_000;
/** The next token is requested this long before the end of the present one, or when a fifth of its time is left. */
const MAX_MARGIN_MS = 300_000;
const MAX_CACHED = 10_000;

interface KnownToken {
  readonly accessToken: string;
  readonly issuedAt: number;
  readonly refreshAt: number;
  readonly expiresAt: number;
}

/** The context that binds a sealed token to its organisation and sign-in. */
export const tokenContext = (what: 'access' | 'refresh', { orgId, fingerprint }: TokenKey): string =>
  `${what} token ${orgId} ${fingerprint}`;

/** A configuration whose service signs in with access tokens. */
type OauthConfiguration = SmtpConfiguration & { readonly username: string; readonly oauth: SmtpOauth };

export const usesOauth = (configuration: SmtpConfiguration): configuration is OauthConfiguration =>
  configuration.oauth !== undefined;

export function createSmtpTokens(deps: {
  readonly pool: pg.Pool;
  readonly box: SecretBox;
  readonly requestToken: RequestToken;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { pool, box, requestToken, clock, log } = deps;
  const known = new LRUCache<string, KnownToken>({ max: MAX_CACHED });
  const inProgress = new Map<string, Promise<KnownToken>>();

  /** A digest does: what is in it of secrets was issued by a provider, so nobody guesses it from the digest. */
  const toKey = (orgId: string, { username, oauth }: OauthConfiguration): TokenKey => ({
    orgId,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([username, oauth]))
      .digest('base64url'),
  });
  const seal = (key: TokenKey, what: 'access' | 'refresh', value: string) =>
    sealJson(box, { value }, tokenContext(what, key));
  const open = (key: TokenKey, what: 'access' | 'refresh', sealed: string | null): string | undefined =>
    sealed === null
      ? undefined
      : (openJson(box, sealed, tokenContext(what, key)) as { value: string } | undefined)?.value;

  function toKnown(key: TokenKey, row: TokenRow | undefined): KnownToken | undefined {
    const accessToken = open(key, 'access', row?.sealedToken ?? null);
    if (!row?.issuedAt || !row.refreshAt || !row.expiresAt || accessToken === undefined) return undefined;
    const [issuedAt, refreshAt, expiresAt] = [row.issuedAt, row.refreshAt, row.expiresAt].map(Number);
    return { accessToken, issuedAt, refreshAt, expiresAt } as KnownToken;
  }

  /** Repeats it until the lease has ended: the provider may accept no earlier refresh token any more. */
  async function store(key: TokenKey, token: Parameters<typeof storeToken>[2]): Promise<void> {
    for (const end = performance.now() + LEASE_MS; ; await delay(STORE_RETRY_MS))
      try {
        await storeToken(pool, key, token);
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
        log.warn({ err: error, orgId: key.orgId }, 'Failed to store an access token; will retry');
      }
  }

  /** Requests a token with the newest refresh token, and stores both. */
  async function request(
    key: TokenKey,
    { username, oauth }: OauthConfiguration,
    claimed: TokenRow,
  ): Promise<KnownToken> {
    const newest = open(key, 'refresh', claimed.sealedRefreshToken);
    const auth =
      oauth.provider === 'custom' && newest !== undefined ? { ...oauth, refreshToken: newest } : oauth;
    const issuedAt = clock();
    const issued = await requestToken(auth, username, issuedAt).catch(async (error: unknown) => {
      const problem = error instanceof TokenFault ? error.originalCode : 'unreachable';
      await storeTokenProblem(pool, key, { problem, failedAt: new Date(clock()), claimed });
      throw error;
    });
    const { accessToken, lifetimeMs, refreshToken } = issued;
    const expiresAt = issuedAt + lifetimeMs;
    const refreshAt = expiresAt - Math.min(MAX_MARGIN_MS, lifetimeMs / 5);
    await store(key, {
      sealedToken: seal(key, 'access', accessToken),
      issuedAt: new Date(issuedAt),
      refreshAt: new Date(refreshAt),
      expiresAt: new Date(expiresAt),
      sealedRefreshToken: refreshToken === undefined ? null : seal(key, 'refresh', refreshToken),
    });
    return { accessToken, issuedAt, refreshAt, expiresAt };
  }

  /** Finds a token that is good enough, which another replica may be requesting now, or requests one here. */
  async function load(
    key: TokenKey,
    configuration: OauthConfiguration,
    { isEnough, issuedBefore = 0 }: { isEnough: (token: KnownToken) => boolean; issuedBefore?: number },
  ): Promise<KnownToken> {
    const failedBefore = issuedBefore || clock() - RETRY_MS;
    for (const end = performance.now() + 2 * LEASE_MS; performance.now() < end; await delay(POLL_MS)) {
      const row = await findToken(pool, key);
      const present = toKnown(key, row);
      if (present && isEnough(present)) return present;
      if (row?.failedAt && !row.isFetching && row.failedAt.getTime() > failedBefore)
        throw new TokenFault(row.problem ?? 'unreachable');
      const claimed = await claimTokenRequest(pool, key, {
        now: new Date(clock()),
        leaseMs: LEASE_MS,
        issuedBefore: new Date(issuedBefore),
        failedBefore: new Date(failedBefore),
      });
      if (claimed) return request(key, configuration, claimed);
    }
    throw new TokenFault('timeout');
  }

  const toId = ({ orgId, fingerprint }: TokenKey): string => `${orgId} ${fingerprint}`;

  /** Loads a token once, however many mails want it. */
  function loadOnce(...[key, configuration, wanted]: Parameters<typeof load>): Promise<KnownToken> {
    const id = toId(key);
    const loading =
      inProgress.get(id) ??
      load(key, configuration, wanted)
        .then((loaded) => {
          known.set(id, loaded);
          return loaded;
        })
        .finally(() => inProgress.delete(id));
    inProgress.set(id, loading);
    return loading;
  }

  /** Replaces a token that is due, while mails use it. */
  function renew(key: TokenKey, configuration: OauthConfiguration, token: KnownToken): void {
    loadOnce(key, configuration, { isEnough: ({ refreshAt }) => refreshAt > clock() }).catch(
      (error: unknown) => {
        known.set(toId(key), { ...token, refreshAt: clock() + RETRY_MS });
        log.warn({ err: error, orgId: key.orgId }, 'Failed to renew an access token; will retry');
      },
    );
  }

  async function get(orgId: string, configuration: OauthConfiguration): Promise<string> {
    const key = toKey(orgId, configuration);
    const isUsable = ({ expiresAt }: KnownToken): boolean => expiresAt > clock();
    const present = known.get(toId(key));
    const token =
      present && isUsable(present) ? present : await loadOnce(key, configuration, { isEnough: isUsable });
    if (token.refreshAt <= clock()) renew(key, configuration, token);
    return token.accessToken;
  }

  return {
    /** Returns an access token that is valid for a while. @throws TokenFault when there is none. */
    get,

    /** Requests a new token, also when there is a valid one. @throws TokenFault. */
    async getNew(orgId: string, configuration: OauthConfiguration): Promise<string> {
      const key = toKey(orgId, configuration);
      const now = clock();
      const isEnough = ({ issuedAt }: KnownToken): boolean => issuedAt >= now;
      const token = await load(key, configuration, { isEnough, issuedBefore: now });
      known.set(toId(key), token);
      return token.accessToken;
    },

    /**
     * The SMTP server refused the token. It may lack a permission that has been granted meanwhile, so it is replaced,
     * unless it is new.
     */
    async reject(orgId: string, configuration: OauthConfiguration): Promise<void> {
      const key = toKey(orgId, configuration);
      const id = toId(key);
      const token = known.get(id);
      if (!token || clock() - token.issuedAt < RETRY_MS) return;
      known.delete(id);
      await endToken(pool, key, new Date(token.issuedAt), new Date(clock()));
    },
  };
}

/**
 * Keeps the access tokens of organisations, encrypted, in the database that all replicas share. A token is requested by
 * one of them, and is also kept in memory, so that mails don't read it from the database.
 */
export type SmtpTokens = ReturnType<typeof createSmtpTokens>;
