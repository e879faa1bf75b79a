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
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
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

/** Returns how far the zone's clocks are ahead of UTC at an instant, in ms. */
export function offsetAt(zone: string, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of getFormat(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/**
 * Returns the instant at which clocks show the wall time: the first one if they show it twice. If clocks are set
 * forward past it, the instant is as long after the change as the wall time lay inside the gap (RFC 5545 §3.3.5
 * treats a missing local time in the same way).
 */
export function toInstant(zone: string, wall: number): { readonly at: number; readonly isSkipped: boolean } {
  const before = offsetAt(zone, wall - DAY_MS);
  const after = offsetAt(zone, wall + DAY_MS);
  const first = wall - Math.max(before, after);
  const second = wall - Math.min(before, after);
  for (const at of [first, second]) if (at + offsetAt(zone, at) === wall) return { at, isSkipped: false };
  return { at: wall - before, isSkipped: true };
}
