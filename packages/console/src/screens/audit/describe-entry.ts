import { audit as t } from '#text/audit';
import { text } from '#text/shared';
import { formatExactTime } from '../../text/dates.ts';
import type { AuditEntry } from './api.ts';

/** Returns words for an action, or its name when it is unknown here, as with a newer platform. */
export const describeAction = (action: string): string =>
  t.actions[action as keyof typeof t.actions] ?? action;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** A SHA-256 in base64url, by which definitions of tools are pinned. The export has the whole of it. */
const HASH = /^[\w-]{43}$/;
const FINGERPRINT_LENGTH = 8;

const show = (value: unknown): string => {
  if (typeof value === 'string' && INSTANT.test(value)) return formatExactTime(new Date(value));
  if (typeof value === 'string' && HASH.test(value)) return t.version(value.slice(0, FINGERPRINT_LENGTH));
  if (value === null || value === '') return text.none;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
};

/** Returns the changes and the details of an entry, as pairs of a name and a text. */
export const listChanges = ({
  changes,
  detail,
}: Pick<AuditEntry, 'changes' | 'detail'>): (readonly [name: string, value: string])[] => [
  ...Object.entries(changes).map(([name, { from, to }]) => [name, `${show(from)} → ${show(to)}`] as const),
  ...Object.entries(detail)
    .filter(([name]) => !(name in changes))
    .map(([name, value]) => [name, show(value)] as const),
];

export const describeChanges = (entry: Pick<AuditEntry, 'changes' | 'detail' | 'reason'>): string =>
  [
    ...listChanges(entry).map(([name, value]) => `${name}: ${value}`),
    ...(entry.reason === null ? [] : [t.because(entry.reason)]),
  ].join(' · ');
