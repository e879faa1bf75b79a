import { DAY_MS } from '@platform/service-kit';
import { timeZoneNames } from './time-zone-names.js';

/*
 * Converts between instants and wall times of a time zone. Pure; the rules are those of the runtime's ICU data. A
 * wall time is represented as the epoch ms at which a UTC clock would show it.
 */

/** Keyed by the name in lower case. It is bounded: only names of the tz database get here, about 600. */
const formats = new Map<string, Intl.DateTimeFormat>();

function getFormat(zone: string): Intl.DateTimeFormat {
  const key = zone.toLowerCase();
  const known = formats.get(key);
  if (known) return known;
  // The year is not used: without a field, it would be a date, which takes longer.
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    timeZoneName: 'longOffset',
    year: 'numeric',
  });
  formats.set(key, made);
  return made;
}

const knownNames = new Set([...timeZoneNames].map((name) => name.toLowerCase()));

/**
 * Returns whether the tz database has the name, in whatever case, and the runtime its rules. Intl alone takes more: it reads
 * `BST` as Dhaka, `AST` as Alaska, and `SystemV/EST5`.
 */
export function isTimeZone(name: string): boolean {
  if (!knownNames.has(name.toLowerCase())) return false;
  try {
    getFormat(name);
    return true;
  } catch {
    return false;
  }
}

/** `GMT`, `GMT+05:45` or `GMT-00:44:30`, after the year. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/;

/** Returns how far the zone's clocks are ahead of UTC at an instant, in ms. */
function offsetAt(zone: string, at: number): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(getFormat(zone).format(at)) ?? [];
  const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  return sign === '-' ? -offset : offset;
}

/**
 * Returns the offsets of a zone on the days before and after a time, which may be an instant or a wall time. No zone has
 * changed its clocks twice in so short a time for decades.
 */
export const offsetsAround = (zone: string, at: number): readonly [before: number, after: number] => [
  offsetAt(zone, at - DAY_MS),
  offsetAt(zone, at + DAY_MS),
];

/**
 * Returns the instants at which clocks show the wall time, ascending: two if they show it twice. If clocks are set forward
 * past it, that is the instant as long after the change as the wall time lay inside the gap (RFC 5545 §3.3.5 treats a
 * missing local time in the same way).
 */
export function toInstants(zone: string, wall: number): readonly number[] {
  const [before, after] = offsetsAround(zone, wall);
  if (before === after) return [wall - before];
  const possible = [wall - Math.max(before, after), wall - Math.min(before, after)];
  const shown = possible.filter((at) => at + offsetAt(zone, at) === wall);
  return shown.length > 0 ? shown : [wall - before];
}
