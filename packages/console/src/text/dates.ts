import { shownZone } from '../look.ts';

/*
 * The one place that formats dates. The language of the browser decides how a date is written, in whatever language the texts
 * are; hours count to 24, as in schedules.
 */

const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const minute = { ...day, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const second = { ...minute, second: '2-digit' } as const;

const create = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(undefined, { timeZone: shownZone, ...options });

const days = create(day);
const seconds = create(second);
const exact = create({ ...second, timeZoneName: 'short' });
const wallClock = create({ ...minute, weekday: 'short', timeZone: 'UTC' });

export const formatDay = (at: Date): string => days.format(at);
export const formatTime = (at: Date): string => seconds.format(at);
/** With the time zone, for what is compared with what others have seen. */
export const formatExactTime = (at: Date): string => exact.format(at);

/** Returns the date and time, to the minute, in a zone; in the shown one by default. */
export const formatMinute = (at: Date, timeZone?: string): string =>
  create({ ...minute, ...(timeZone !== undefined && { timeZone }) }).format(at);

const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/;

/** Formats `2026-11-23T02:30:00+01:00` as a clock in that zone shows it. */
export const formatLocalTime = (localTime: string): string =>
  wallClock.format(new Date(localTime.replace(OFFSET, 'Z')));

/** Returns whether the zone has changed its clocks between two runs. */
export const hasClockChanged = (before: string | undefined, after: string): boolean =>
  before !== undefined && OFFSET.exec(before)?.[0] !== OFFSET.exec(after)?.[0];
