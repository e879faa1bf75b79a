import { DEFAULT_INSTANCE } from '@platform/events';
import { DAY_MS } from '@platform/service-kit';
import { Type } from 'typebox';
import type { CrawlAge } from './crawl-ages.js';

/*
 * How old is what a connector has crawled, in the same words wherever it is said: in the results of mounted servers, in get_crawl
 * and in the console. [MCP-42]
 *
 *   unscheduled: the schedule was removed
 *   paused: an administrator has paused the schedule
 *   failing: the last runs have failed
 *   late: no crawl has completed yet, or the next one is overdue by the time between two of them
 *   fresh: otherwise
 */

const states = ['fresh', 'late', 'failing', 'paused', 'unscheduled'] as const;
type State = (typeof states)[number];

const Instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

export const AgeReport = Type.Object(
  {
    connector: Type.String(),
    instance: Type.String(),
    state: Type.Unsafe<State>({ type: 'string', enum: [...states] }),
    lastCompletedAt: Instant,
    nextRunAt: Instant,
    failingSince: Type.Optional(Type.String({ format: 'date-time' })),
    text: Type.String({ description: 'The same in words that can be passed on.' }),
  },
  { title: 'KnowledgeAge' },
);
export type AgeReport = Type.Static<typeof AgeReport>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A crawl takes its time, and is no news when it is a little late. */
const MIN_GRACE_MS = 10 * MINUTE_MS;
const MAX_GRACE_MS = DAY_MS;

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' });
const date = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const DAYS_OF_WEEKDAYS = 6;

function isOverdue({ completedAt, nextRunAt }: CrawlAge, now: number): boolean {
  if (completedAt === null) return true;
  if (nextRunAt === null) return false;
  const period = nextRunAt.getTime() - completedAt.getTime();
  return now > nextRunAt.getTime() + Math.min(MAX_GRACE_MS, Math.max(MIN_GRACE_MS, period));
}

function toState(age: CrawlAge, now: number): State {
  if (age.removedAt !== null) return 'unscheduled';
  if (age.pausedAt !== null) return 'paused';
  if (age.failingSince !== null) return 'failing';
  return isOverdue(age, now) ? 'late' : 'fresh';
}

const count = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

function describeAgo(at: Date, now: number): string {
  const ms = Math.max(0, now - at.getTime());
  if (ms >= 2 * DAY_MS) return `${count(Math.floor(ms / DAY_MS), 'day')} ago`;
  if (ms >= HOUR_MS) return `${count(Math.floor(ms / HOUR_MS), 'hour')} ago`;
  return ms >= MINUTE_MS ? `${count(Math.floor(ms / MINUTE_MS), 'minute')} ago` : 'less than a minute ago';
}

const describeDay = (at: Date, now: number): string =>
  now - at.getTime() < DAYS_OF_WEEKDAYS * DAY_MS ? weekday.format(at) : date.format(at);

function describe(age: CrawlAge, state: State, now: number): string {
  const { connector, instance, completedAt, failingSince, nextRunAt } = age;
  const name = instance === DEFAULT_INSTANCE ? connector : `${connector} (${instance})`;
  const last = completedAt
    ? `${name} was last crawled ${describeAgo(completedAt, now)}`
    : `${name} has not been crawled yet`;
  if (state === 'unscheduled') return `${last}; its schedule was removed.`;
  if (state === 'paused') return `${last}; its crawls are paused.`;
  if (failingSince !== null) return `${last}; crawls fail since ${describeDay(failingSince, now)}.`;
  return state === 'late' && nextRunAt && completedAt
    ? `${last}; the next crawl was due ${describeAgo(nextRunAt, now)}.`
    : `${last}.`;
}

export function toAgeReport(age: CrawlAge, now: number): AgeReport {
  const { connector, instance, completedAt, failingSince, nextRunAt } = age;
  const state = toState(age, now);
  return {
    connector,
    instance,
    state,
    lastCompletedAt: completedAt?.toISOString() ?? null,
    nextRunAt: nextRunAt?.toISOString() ?? null,
    ...(state === 'failing' && failingSince && { failingSince: failingSince.toISOString() }),
    text: describe(age, state, now),
  };
}

/** The age of a connector of which no fact is known. */
export const toUnknownAge = (connector: string, instance = DEFAULT_INSTANCE): CrawlAge => ({
  connector,
  instance,
  completedAt: null,
  failingSince: null,
  nextRunAt: null,
  pausedAt: null,
  removedAt: null,
  fullAt: null,
  source: null,
});

/** Returns the ages of connectors in the order of their names; one of which nothing is known was never crawled. */
export function toAgeReports(
  connectors: readonly string[],
  known: readonly CrawlAge[],
  now: number,
): AgeReport[] {
  const ages = connectors.flatMap((connector) => {
    const own = known.filter((age) => age.connector === connector);
    return own.length === 0 ? [toUnknownAge(connector)] : own;
  });
  return ages.map((age) => toAgeReport(age, now));
}
