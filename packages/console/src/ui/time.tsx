import { LOCALE } from '#text/shared';
import { useSyncExternalStore } from 'react';
import { shownZone } from '../look.ts';
import { formatDay, formatExactTime, formatMinute, formatTime } from '../text/dates.ts';

const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' });

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns "2 hours ago", "in 3 minutes". */
function formatRelative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  const size = Math.abs(seconds);
  if (size < MINUTE) return relative.format(seconds, 'second');
  if (size < HOUR) return relative.format(Math.round(seconds / MINUTE), 'minute');
  if (size < DAY) return relative.format(Math.round(seconds / HOUR), 'hour');
  return relative.format(Math.round(seconds / DAY), 'day');
}

const TICK_MS = 10_000;
const listeners = new Set<() => void>();
let tick = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  timer ??= setInterval(() => {
    tick += 1;
    for (const listener of listeners) listener();
  }, TICK_MS);
  return () => {
    listeners.delete(notify);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const subscribeToNothing = () => () => undefined;

/** Renders what depends on the time of day again every few seconds: its row may stay as it is for long. */
const useTick = (isRelative: boolean): number =>
  useSyncExternalStore(isRelative ? subscribe : subscribeToNothing, () => tick);

interface TimeProps {
  readonly at: string | number;
  /** `ago` is relative to now, `day` a date, `full` a date with its time, and `exact` with its time zone as well. */
  readonly as?: 'ago' | 'day' | 'full' | 'exact';
}

/** A point in time; the title holds all of it. */
export function Time({ at, as = 'ago' }: TimeProps) {
  useTick(as === 'ago');
  const date = new Date(at);
  const label = {
    ago: () => formatRelative(date.getTime(), Date.now()),
    day: () => formatDay(date),
    full: () => formatTime(date),
    exact: () => formatExactTime(date),
  };
  const title = formatExactTime(date);
  return (
    // What is relative to now is not when it is printed.
    <time dateTime={date.toISOString()} title={title} data-printed={as === 'ago' ? title : undefined}>
      {label[as]()}
    </time>
  );
}

/** Whether the times of a schedule are shown in another zone than its own. */
export const isOtherZone = (zone: string | undefined): boolean => zone !== undefined && zone !== shownZone;

/** A point in time of something with a time zone, which is named when it is not the shown one. */
export function ZonedTime({ at, zone }: { at: string; zone: string | undefined }) {
  const date = new Date(at);
  if (zone === undefined || !isOtherZone(zone)) return <Time at={at} as="full" />;
  return (
    <time dateTime={date.toISOString()} title={formatExactTime(date)}>
      {`${formatMinute(date, zone)} ${zone}`}
      {` · ${formatMinute(date)} ${shownZone}`}
    </time>
  );
}

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1],
] as const;

/** Says how long something lasts in its largest unit, such as "2 minutes". */
function formatLargestUnit(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1];
  const format = new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.floor(seconds / size));
}

/** Says how long ago something was, in a sentence that does not change every second: at least a minute. */
export const formatAge = (since: number): string =>
  formatLargestUnit(Math.max(MINUTE, (Date.now() - since) / 1000));

/** Shows how long something has lasted, in its largest unit. */
export function Age({ since }: { since: string }) {
  useTick(true);
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
  return (
    <time dateTime={new Date(since).toISOString()} title={formatExactTime(new Date(since))}>
      {formatLargestUnit(seconds)}
    </time>
  );
}
