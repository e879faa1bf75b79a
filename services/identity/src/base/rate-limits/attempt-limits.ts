import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { toNetwork } from '../network.js';
import { toKey } from './rate-limits.sql.js';

/*
 * Limits attempts at endpoints that are open to everyone. The counts are in PostgreSQL, so that all replicas share them, by
 * the database's clock. One statement counts an attempt at its networks, its account and the pairs of both.
 */
export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/**
 * The networks of a client: an IPv4 address; or the /64 of an IPv6 address, the /56 that a home has, and the /48 of a site
 * (RFC 6177), of which one client may control the whole. A larger one may have as many times the attempts.
 */
const NETWORKS = [
  { prefix: { ipv4: 32, ipv6: 64 }, times: 1 },
  { prefix: { ipv4: 32, ipv6: 56 }, times: 2 },
  { prefix: { ipv4: 32, ipv6: 48 }, times: 4 },
] as const;

export interface AttemptLimitOptions {
  /** A prefix of the stored keys. Limiters with different names count separately. */
  readonly name: string;
  /** The limit of all networks together at one subject. Leave it out where strangers could lock the owner out with it. */
  readonly perSubject?: number;
  /** The limit of one network at one subject. */
  readonly perPair: number;
  readonly perAddress: number;
  /**
   * The limit of successes of one subject, where each of them costs something. Successes without a second factor are
   * counted for each network, or place: whoever knows the password alone must not use up the owner's.
   */
  readonly successesPerSubject?: number;
  /** The public message of the 429. */
  readonly message: string;
}

export interface AttemptOrigin {
  readonly address: string;
  /**
   * A place from which the subject's owner has signed in, such as a browser. Its attempts are counted there and nowhere
   * else, so that nobody at another place can use up what it may do.
   */
  readonly place?: string | undefined;
}

/*
 * An attempt that one of its limits refuses counts at none: it must not use up what the others still allow. Attempts at
 * the same time can each find the limits unused; then the count that each gets decides, and refused attempts are
 * taken back. All rows are locked in the order of their keys, so that no two attempts deadlock.
 */
const countAttempt = `
  with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now
  ), wanted as materialized (
    select key, points, is_counted from unnest($1::text[], $2::int[], $3::bool[]) as wanted (key, points, is_counted)
  ), used_up as materialized (
    select wanted.key, present.expire from clock, wanted join rate_limits present on present.key = wanted.key
    where present.points >= wanted.points and present.expire > clock.now
  ), counted as (
    insert into rate_limits as present (key, points, expire)
    select key, 1, now + ${ATTEMPT_WINDOW_MS} from wanted, clock
    where is_counted and not exists (select from used_up) order by key
    on conflict (key) do update set
      points = case when present.expire <= excluded.expire - ${ATTEMPT_WINDOW_MS} then 1 else present.points + 1 end,
      expire = case when present.expire <= excluded.expire - ${ATTEMPT_WINDOW_MS} then excluded.expire else present.expire end
    returning key, points, expire
  )
  select refused.key, (refused.expire - clock.now)::int as "waitMs", "isCounted" from clock, (
    select key, expire, false as "isCounted" from used_up
    union all
    select counted.key, counted.expire, true from counted join wanted on wanted.key = counted.key
    where counted.points > wanted.points
  ) refused`;

/* Takes an attempt back at the keys of $1, resets those of $2, and counts a success at the key $3, unless it is null. */
const uncountAttempt = `
  with held as materialized (
    select key from rate_limits where key = any($1) order by key for update
  ), uncounted as (
    update rate_limits present set points = case when present.key = any($2) then 0 else greatest(points - 1, 0) end
    from held where present.key = held.key
  )
  insert into rate_limits as present (key, points, expire)
  select $3::text, 1, (extract(epoch from clock_timestamp()) * 1000)::bigint + ${ATTEMPT_WINDOW_MS}
  -- Reading the count locks the rows above first, so that the order of locks is the same everywhere.
  where $3::text is not null and (select count(*) from held) >= 0
  on conflict (key) do update set
    points = case when present.expire <= excluded.expire - ${ATTEMPT_WINDOW_MS} then 1 else present.points + 1 end,
    expire = case when present.expire <= excluded.expire - ${ATTEMPT_WINDOW_MS} then excluded.expire else present.expire end`;

interface Limit {
  readonly key: string;
  readonly points: number;
  /** Whether attempts count at the key; otherwise successes do. */
  readonly isCounted: boolean;
}

const uncount = (
  pool: pg.Pool,
  limits: readonly Limit[],
  {
    reset = [],
    success = null,
  }: {
    readonly reset?: readonly string[];
    readonly success?: string | null;
  } = {},
): Promise<unknown> =>
  pool.query({
    name: 'uncount_attempt',
    text: uncountAttempt,
    values: [limits.map(({ key }) => key), reset, success],
  });

interface Refusal {
  readonly key: string;
  readonly waitMs: number;
  /** Whether the attempt was counted, because it found the limit unused. */
  readonly isCounted: boolean;
}

async function count(pool: pg.Pool, limits: readonly Limit[]): Promise<Refusal[]> {
  const { rows } = await pool.query<Refusal>({
    name: 'count_attempt',
    text: countAttempt,
    values: [
      limits.map(({ key }) => key),
      limits.map(({ points }) => points),
      limits.map(({ isCounted }) => isCounted),
    ],
  });
  if (rows.some(({ isCounted }) => isCounted))
    await uncount(
      pool,
      limits.filter(({ isCounted }) => isCounted),
    );
  return rows;
}

/** Creates a limiter whose limits all apply to a window of 15 minutes. */
export function createAttemptLimits(pool: pg.Pool, options: AttemptLimitOptions) {
  const { name, perSubject, perPair, perAddress, successesPerSubject, message } = options;

  const toLimit = (key: string, points: number, isCounted = true): Limit => ({
    key: `${name}:${key}`,
    points,
    isCounted,
  });

  function toNetworkLimits(subject: string, address: string): Limit[] {
    const networks = NETWORKS.map(({ prefix, times }) => ({
      network: toNetwork(address, prefix),
      times,
    }))
      // An IPv4 address is in one network only.
      .filter(({ network }, index, all) => all.findIndex((other) => other.network === network) === index);
    return [
      ...networks.map(({ network, times }) =>
        toLimit(`pair:${toKey(`${subject} ${network}`)}`, perPair * times),
      ),
      ...networks.map(({ network, times }) => toLimit(`address:${toKey(network)}`, perAddress * times)),
    ];
  }

  /** Returns the limits of an attempt. The first one is that of the pair, or of the place. */
  function toLimits(subject: string, { address, place }: AttemptOrigin) {
    const key = toKey(subject);
    const isAccountLimited = perSubject !== undefined && place === undefined;
    const from = toKey(`${subject} ${place ?? toNetwork(address, NETWORKS[0].prefix)}`);
    return {
      client: place === undefined ? toNetworkLimits(subject, address) : [toLimit(`place:${from}`, perPair)],
      account: isAccountLimited ? [toLimit(`account:${key}`, perSubject)] : [],
      successes:
        successesPerSubject === undefined
          ? []
          : [`success:${key}`, `pending:${from}`].map((of) => toLimit(of, successesPerSubject, false)),
    };
  }

  /** @throws AppError 429. */
  function assertNoneRefused(refusals: readonly Refusal[]): void {
    if (refusals.length === 0) return;
    throw tooManyRequests(Math.max(...refusals.map(({ waitMs }) => waitMs)) / 1_000, message);
  }

  return {
    /**
     * Counts an attempt before it is made, so that concurrent attempts get no extra guesses.
     *
     * @param subject - the e-mail address or link token that is tried.
     * @param isKnown - called when the limit of the subject is reached: a client from which its owner has signed in
     *   before is subject to the other limits only.
     * @throws AppError 429.
     */
    async begin(
      subject: string,
      origin: AttemptOrigin,
      isKnown: () => Promise<boolean> = () => Promise.resolve(false),
    ): Promise<void> {
      const { client, account, successes } = toLimits(subject, origin);
      const refusals = await count(pool, [...client, ...account, ...successes]);
      const isOnlyAccount = refusals.every(({ key }) => key === account[0]?.key);
      if (refusals.length > 0 && isOnlyAccount && (await isKnown()))
        assertNoneRefused(await count(pool, [...client, ...successes]));
      else assertNoneRefused(refusals);
    },

    /**
     * Records a success: takes the attempt back and resets the failures of this network, or place, at this subject.
     *
     * @param isPending - whether a second factor is still missing.
     */
    async succeed(subject: string, origin: AttemptOrigin, isPending = false): Promise<void> {
      const { client, account, successes } = toLimits(subject, origin);
      const reset = client.slice(0, 1).map(({ key }) => key);
      await uncount(pool, [...client, ...account], {
        reset,
        success: successes[isPending ? 1 : 0]?.key ?? null,
      });
    },

    /** Awaits the check of an attempt, and takes the attempt back when the platform could not make it. */
    async check<T>(subject: string, origin: AttemptOrigin, checking: Promise<T>): Promise<T> {
      try {
        return await checking;
      } catch (error) {
        const { client, account } = toLimits(subject, origin);
        await uncount(pool, [...client, ...account]);
        throw error;
      }
    },
  };
}

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;
