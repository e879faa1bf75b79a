import { LOCALE } from '#text/shared';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
] as const;

/** Returns how long something lasts in its largest unit, such as "2 minutes"; nothing is shorter than a minute. */
export function formatDuration(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [MINUTE_MS, 'minute'];
  const format = new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.max(1, Math.floor(ms / size)));
}
