import type { IdentitySchemas } from '@platform/clients/types';
import { identity, unwrap } from '../../api/client.ts';
import { look } from '../../look.ts';

export type AuditEntry = IdentitySchemas['schemas']['AuditEntry'];
export type AuditName = IdentitySchemas['schemas']['AuditName'];

/** An entry with the names that its ids had when it was exported. */
export interface ExportedEntry extends AuditEntry {
  readonly actorName: string | null;
  readonly subjectName: string | null;
}

export interface AuditSearch {
  readonly action?: string | undefined;
  readonly q?: string | undefined;
  readonly actorId?: string | undefined;
  readonly subjectId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

const PAGE_SIZE = 50;

/** The beginning of a day in the zone of the times that are shown, some days later. */
function toInstant(day: string | undefined, daysLater = 0): string | undefined {
  const isUtc = look.zone === 'utc';
  const at = new Date(`${day}T00:00${isUtc ? 'Z' : ''}`);
  if (Number.isNaN(at.getTime())) return undefined;
  if (isUtc) at.setUTCDate(at.getUTCDate() + daysLater);
  else at.setDate(at.getDate() + daysLater);
  return at.toISOString();
}

/** Reads the filters from the address; the last day is included. */
export const toSearch = (filters: Readonly<Record<string, string | undefined>>): AuditSearch => ({
  action: filters['action'] || undefined,
  q: filters['q']?.trim() || undefined,
  actorId: filters['actor'] || undefined,
  subjectId: filters['subject'] || undefined,
  from: toInstant(filters['from']),
  to: toInstant(filters['to'], 1),
});

export function loadAuditPage(search: AuditSearch, signal?: AbortSignal, limit = PAGE_SIZE) {
  const given = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
  const params = { query: { limit, ...given } };
  return unwrap(identity.GET('/api/v1/audit', { params, ...(signal && { signal }) }));
}
