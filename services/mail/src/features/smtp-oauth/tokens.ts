import { createHmac, hkdfSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
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
} from './queries.js';
import { type RequestToken, TokenFault } from './request-token.js';

/*
 * The life of a row of smtp_tokens:
 *
 *   claimed    a replica requests a token until fetching_until; the others wait for it
 *   issued     all replicas use the token until refresh_at; then one of them requests the next one, and should that fail,
 *              the token is used until it ends
 *   failed     the provider is left alone for RETRY_MS
 */

/** Exceeds the duration of any request. */
const LEASE_MS = 15_000;
const POLL_MS = 200;
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

/** A configuration whose service signs in with access tokens. */
type OauthConfiguration = SmtpConfiguration & { readonly username: string; readonly oauth: SmtpOauth };

export const usesOauth = (configuration: SmtpConfiguration): configuration is OauthConfiguration =>
  configuration.oauth !== undefined;

interface TokenCipher {
  encrypt(value: object, context: string): string;
  /** @returns undefined for what was encrypted with another key or context. */
  decrypt(encrypted: string, context: string): unknown;
}

/** @param secret - this service's secret. With another one, tokens are requested anew with what is configured. */
export function createSmtpTokens(deps: {
  readonly pool: pg.Pool;
  readonly cipher: TokenCipher;
  readonly secret: string;
  readonly requestToken: RequestToken;
  readonly clock: Clock;
}) {
  const { pool, cipher, requestToken, clock } = deps;
  const hmacKey = Buffer.from(hkdfSync('sha256', deps.secret, '', 'sign-ins of SMTP servers', 32));
  const known = new LRUCache<string, KnownToken>({ max: MAX_CACHED });
  const inProgress = new Map<string, Promise<KnownToken>>();

  const toKey = (orgId: string, { username, oauth }: OauthConfiguration): TokenKey => ({
    orgId,
    fingerprint: createHmac('sha256', hmacKey)
      .update(JSON.stringify([username, oauth]))
      .digest('base64url'),
  });
  const toContext = ({ orgId, fingerprint }: TokenKey, what: string) => `${orgId} ${fingerprint} ${what}`;
  const seal = (key: TokenKey, what: string, value: string) =>
    cipher.encrypt({ value }, toContext(key, what));
  const open = (key: TokenKey, what: string, sealed: string | null): string | undefined =>
    sealed === null
      ? undefined
      : (cipher.decrypt(sealed, toContext(key, what)) as { value: string } | undefined)?.value;

  function toKnown(key: TokenKey, row: TokenRow | undefined): KnownToken | undefined {
    const accessToken = open(key, 'access', row?.sealedToken ?? null);
    if (!row?.issuedAt || !row.refreshAt || !row.expiresAt || accessToken === undefined) return undefined;
    const [issuedAt, refreshAt, expiresAt] = [row.issuedAt, row.refreshAt, row.expiresAt].map(Number);
    return { accessToken, issuedAt, refreshAt, expiresAt } as KnownToken;
  }

  /** Requests a token with the newest refresh token, and stores both. */
  async function request(
    key: TokenKey,
    { username, oauth }: OauthConfiguration,
    row: TokenRow,
    leasedUntil: Date,
  ): Promise<KnownToken> {
    const refreshToken = open(key, 'refresh', row.sealedRefreshToken);
    const auth =
      oauth.provider === 'custom' && refreshToken !== undefined ? { ...oauth, refreshToken } : oauth;
    try {
      const issuedAt = clock();
      const token = await requestToken(auth, username, issuedAt);
      const expiresAt = issuedAt + token.lifetimeMs;
      const refreshAt = expiresAt - Math.min(MAX_MARGIN_MS, token.lifetimeMs / 5);
      await storeToken(pool, key, {
        sealedToken: seal(key, 'access', token.accessToken),
        issuedAt: new Date(issuedAt),
        refreshAt: new Date(refreshAt),
        expiresAt: new Date(expiresAt),
        sealedRefreshToken:
          token.refreshToken === undefined ? null : seal(key, 'refresh', token.refreshToken),
      });
      return { accessToken: token.accessToken, issuedAt, refreshAt, expiresAt };
    } catch (error) {
      if (error instanceof TokenFault)
        await storeTokenProblem(pool, key, {
          problem: error.originalCode,
          failedAt: new Date(clock()),
          leasedUntil,
        });
      throw error;
    }
  }

  /** Finds the token that another replica has requested, or requests it here. */
  async function load(
    key: TokenKey,
    configuration: OauthConfiguration,
    issuedAfter: number | undefined,
  ): Promise<KnownToken> {
    for (const end = clock() + 2 * LEASE_MS; clock() < end; await delay(POLL_MS)) {
      const now = clock();
      const leasedUntil = new Date(now + LEASE_MS);
      const claimed = await claimTokenRequest(pool, key, {
        now: new Date(now),
        leasedUntil,
        issuedBefore: new Date(issuedAfter ?? 0),
        failedBefore: new Date(issuedAfter === undefined ? now - RETRY_MS : now),
      });
      const row = claimed ?? (await findToken(pool, key));
      const present = toKnown(key, row);
      const usable = present && issuedAfter === undefined && present.expiresAt > now ? present : undefined;
      if (row && claimed)
        return await request(key, configuration, row, leasedUntil).catch((error: unknown) => {
          if (usable && error instanceof TokenFault) return usable;
          throw error;
        });
      if (present && present.refreshAt > now && present.issuedAt >= (issuedAfter ?? 0)) return present;
      if (usable) return usable;
      if (row && row.problem !== null && (row.fetchingUntil?.getTime() ?? 0) <= now)
        throw new TokenFault(row.problem);
    }
    throw new TokenFault('timeout');
  }

  async function get(
    orgId: string,
    configuration: OauthConfiguration,
    issuedAfter?: number,
  ): Promise<KnownToken> {
    const key = toKey(orgId, configuration);
    const id = `${orgId} ${key.fingerprint}`;
    const token = known.get(id);
    if (token && issuedAfter === undefined && token.refreshAt > clock()) return token;
    const present = issuedAfter === undefined ? inProgress.get(id) : undefined;
    if (present) return present;
    const loading = load(key, configuration, issuedAfter).then((loaded) => {
      known.set(id, loaded);
      return loaded;
    });
    if (issuedAfter !== undefined) return loading;
    inProgress.set(id, loading);
    return loading.finally(() => inProgress.delete(id));
  }

  return {
    /** Returns an access token that is valid for a while. @throws TokenFault when there is none. */
    get: async (orgId: string, configuration: OauthConfiguration): Promise<string> =>
      (await get(orgId, configuration)).accessToken,

    /** Requests a new token, also when there is a valid one. @throws TokenFault. */
    getNew: async (orgId: string, configuration: OauthConfiguration): Promise<string> =>
      (await get(orgId, configuration, clock())).accessToken,

    /**
     * The SMTP server refused the token. It may lack a permission that has been granted meanwhile, so it is replaced,
     * unless it is new.
     */
    async reject(orgId: string, configuration: OauthConfiguration): Promise<void> {
      const key = toKey(orgId, configuration);
      const id = `${orgId} ${key.fingerprint}`;
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
