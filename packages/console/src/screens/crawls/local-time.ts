import { LOCALE } from '#text/shared';

const wallClock = new Intl.DateTimeFormat(LOCALE, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});

const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/;

/** Formats `2026-11-23T02:30:00+01:00` as a clock in that zone shows it. */
export const formatLocalTime = (localTime: string): string =>
  wallClock.format(new Date(localTime.replace(OFFSET, 'Z')));

/** Returns whether the zone has changed its clocks between two runs. */
export const hasClockChanged = (before: string | undefined, after: string): boolean =>
  before !== undefined && OFFSET.exec(before)?.[0] !== OFFSET.exec(after)?.[0];
