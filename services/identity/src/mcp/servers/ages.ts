import { DEFAULT_INSTANCE } from '@platform/events';
import { DAY_MS } from '@platform/service-kit';
import type { CrawlAge } from '../../facts/crawl-ages.js';
import type { PassedResult } from '../endpoint/tool-result.js';

/*
 * An answer knows its age: a server that is mounted with the connectors that it serves has in each result when they were last
 * crawled, and in words what is late or failing. [MCP-42]
 *
 *   paused: an administrator has paused the schedule
 *   failing: the last runs have failed
 *   late: no crawl has completed yet, or the next one is overdue by the time between two of them
 *   fresh: otherwise
 */

export const AGES_META_KEY = 'workspace-knowledge-platform/crawls';

type State = 'fresh' | 'late' | 'failing' | 'paused';

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
  if (age.pausedAt !== null) return 'paused';
  if (age.failingSince !== null) return 'failing';
  return isOverdue(age, now) ? 'late' : 'fresh';
}

const count = (number: number, unit: string): string => `${number} ${unit}${number === 1 ? '' : 's'}`;

function describeAgo(at: Date, now: number): string {
  const ms = Math.max(0, now - at.getTime());
  if (ms >= 2 * DAY_MS) return `${count(Math.floor(ms / DAY_MS), 'day')} ago`;
  if (ms >= HOUR_MS) return `${count(Math.floor(ms / HOUR_MS), 'hour')} ago`;
  return `${count(Math.floor(ms / MINUTE_MS), 'minute')} ago`;
}

const describeDay = (at: Date, now: number): string =>
  now - at.getTime() < DAYS_OF_WEEKDAYS * DAY_MS ? weekday.format(at) : date.format(at);

/** Returns what a model should pass on; undefined when there is nothing to say. */
function describe(age: CrawlAge, now: number): string | undefined {
  const state = toState(age, now);
  if (state === 'fresh' || state === 'paused') return undefined;
  const { connector, instance, completedAt, failingSince, nextRunAt } = age;
  const name = instance === DEFAULT_INSTANCE ? connector : `${connector} (${instance})`;
  const last = completedAt
    ? `${name} was last crawled ${describeAgo(completedAt, now)}`
    : `${name} has not been crawled yet`;
  if (failingSince !== null) return `${last}; crawls fail since ${describeDay(failingSince, now)}.`;
  return nextRunAt && completedAt
    ? `${last}; the next crawl was due ${describeAgo(nextRunAt, now)}.`
    : `${last}.`;
}

const toNever = (connector: string): CrawlAge => ({
  connector,
  instance: DEFAULT_INSTANCE,
  completedAt: null,
  failingSince: null,
  nextRunAt: null,
  pausedAt: null,
});

function appendText(content: string, text: string): string {
  const block = JSON.stringify({ type: 'text', text });
  const blocks = content.trim().slice(1, -1).trim();
  return `[${blocks}${blocks === '' ? '' : ','}${block}]`;
}

/** Adds the age of what a server knows to a result. */
export function withAges(
  result: PassedResult,
  connectors: readonly string[],
  known: readonly CrawlAge[],
  now: number,
): PassedResult {
  const ages = connectors.flatMap((connector) => {
    const own = known.filter((age) => age.connector === connector);
    return own.length === 0 ? [toNever(connector)] : own;
  });
  const described = ages.map((age) => {
    const { connector, instance, completedAt, failingSince, nextRunAt } = age;
    const state = toState(age, now);
    const since = state === 'failing' ? failingSince : null;
    return {
      connector,
      instance,
      state,
      lastCompletedAt: completedAt,
      nextRunAt,
      ...(since && { failingSince: since }),
    };
  });
  const words = ages.map((age) => describe(age, now)).filter((text) => text !== undefined);
  return {
    ...result,
    content:
      words.length === 0 || result.isError ? result.content : appendText(result.content, words.join(' ')),
    meta: new Map([...result.meta, [AGES_META_KEY, JSON.stringify(described)]]),
  };
}
