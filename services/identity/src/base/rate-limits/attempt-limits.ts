import { tooManyRequests } from '@platform/service-kit';
import type pg from 'pg';
import { toNetwork } from '../network.js';
import { toKey } from './queries.js';

/*
 * Limits attempts at endpoints that are open to everyone. The counts are in PostgreSQL, so that all replicas share them, by
 * the database's clock. One statement counts an attempt at its address, its account and the pair of both.
 */
const WINDOW_MS = 15 * 60_000;

/** The unit that is limited: an IPv4 address, or the /64 of an IPv6 address, which one client controls whole. */
const CLIENT_PREFIX = { ipv4: 32, ipv6: 64 } as const;

export interface AttemptLimitOptions {
  /** A prefix of the stored keys. Limiters with different names count separately. */
  readonly name: string;
  /** The limit of all networks together at one subject. Leave it out where strangers could lock the owner out with it. */
  readonly perSubject?: number;
  /** The limit of one network at one subject. */
  readonly perPair: number;
  readonly perAddress: number;
  /** The public message of the 429. */
  readonly message: string;
}

/*
 * An attempt that one of its limits refuses counts at none: it must not use up what the others still allow. Attempts at
 * the same time can each find the limits unused; then the count that each gets decides, and those that are refused are
 * taken back. All rows are locked in the order of their keys, so that no two attempts deadlock.
 */
const countAttempt = `
  with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as now
  ), wanted as materialized (
    select key, points from unnest($1::text[], $2::int[]) as wanted (key, points)
  ), used_up as materialized (
    select wanted.key, present.expire from clock, wanted join rate_limits present on present.key = wanted.key
    where present.points >= wanted.points and present.expire > clock.now
  ), counted as (
    insert into rate_limits as present (key, points, expire)
    select key, 1, now + ${WINDOW_MS} from wanted, clock where not exists (select from used_up) order by key
    on conflict (key) do update set
      points = case when present.expire <= excluded.expire - ${WINDOW_MS} then 1 else present.points + 1 end,
      expire = case when present.expire <= excluded.expire - ${WINDOW_MS} then excluded.expire else present.expire end
    returning key, points, expire
  )
  select refused.key, (refused.expire - clock.now)::int as "waitMs", "isCounted" from clock, (
    select key, expire, false as "isCounted" from used_up
    union all
    select counted.key, counted.expire, true from counted join wanted on wanted.key = counted.key
    where counted.points > wanted.points
  ) refused`;

/* Takes an attempt back. */
const uncountAttempt = `
  update rate_limits set points = points - 1
  where points > 0 and key = any(array(select key from rate_limits where key = any($1) order by key for update))`;

const uncount = (pool: pg.Pool, keys: readonly string[]): Promise<unknown> =>
  pool.query({ name: 'uncount_attempt', text: uncountAttempt, values: [keys] });

interface Limit {
  readonly key: string;
  readonly points: number;
}

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
    values: [limits.map(({ key }) => key), limits.map(({ points }) => points)],
  });
  if (rows.some(({ isCounted }) => isCounted))
    await uncount(
      pool,
      limits.map(({ key }) => key),
    );
  return rows;
}

/** Creates a limiter whose limits all apply to a window of 15 minutes. */
export function createAttemptLimits(pool: pg.Pool, options: AttemptLimitOptions) {
  const { name, perSubject, perPair, perAddress, message } = options;

  function toKeys(subject: string, address: string) {
    const network = toNetwork(address, CLIENT_PREFIX);
    return {
      pair: `${name}:pair:${toKey(`${subject} ${network}`)}`,
      account: `${name}:account:${toKey(subject)}`,
      address: `${name}:address:${toKey(network)}`,
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
      address: string,
      isKnown: () => Promise<boolean> = () => Promise.resolve(false),
    ): Promise<void> {
      const keys = toKeys(subject, address);
      const ofClient = [
        { key: keys.pair, points: perPair },
        { key: keys.address, points: perAddress },
      ];
      if (perSubject === undefined) {
        assertNoneRefused(await count(pool, ofClient));
        return;
      }
      const refusals = await count(pool, [...ofClient, { key: keys.account, points: perSubject }]);
      const isOnlyAccount = refusals.every(({ key }) => key === keys.account);
      if (refusals.length > 0 && isOnlyAccount && (await isKnown()))
        assertNoneRefused(await count(pool, ofClient));
      else assertNoneRefused(refusals);
    },

    /** Records a success: takes the attempt back and resets the failures of this network at this subject. */
    async succeed(subject: string, address: string): Promise<void> {
      const keys = toKeys(subject, address);
      await pool.query('delete from rate_limits where key = $1', [keys.pair]);
      await uncount(pool, [keys.address, keys.account]);
    },
  };
}

export type AttemptLimits = ReturnType<typeof createAttemptLimits>;
