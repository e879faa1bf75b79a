import { insertFactsOf, type ReportedFact, toIsoTime } from '@platform/events';
import { type AuditAction, auditActions } from './actions.js';
import { randomBytes, randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../base/caller/actor.js';
import type { SqlClient } from '../base/sql-client.js';
import type { AuditRow } from './queries.js';

/** The cases of an entry's type, of which most are `audit.entry`. */
const publicCases = Object.entries(auditActions).flatMap(([action, type]) => {
  if (type === 'audit.entry') return [];
  if (typeof type === 'string') return [`when action = '${action}' then '${type}'`];
  const detail = `'${JSON.stringify(type.where)}'::jsonb`;
  return [`when action = '${action}' and detail @> ${detail} then '${type.type}'`];
});

/**
 * Returns the insert of the facts that entries are. Each statement that inserts entries ends with it:
 * `with entry as (insert into audit_entries … returning *) ${insertFactsOfEntries('entry')}`.
 *
 * @param entries - a relation with all columns of `audit_entries`.
 */
export const insertFactsOfEntries = (entries: string): string =>
  insertFactsOf(`(
    select id, org_id, case ${publicCases.join('\n      ')}
      else 'audit.entry' end as type, created_at as at, json_build_object(
        'id', id, 'action', action, 'actorId', actor_id,
        'credential', case when credential_kind is not null then
          json_build_object('kind', credential_kind, 'id', credential_id) end,
        'address', address, 'userAgent', user_agent, 'requestId', request_id, 'subjectId', subject_id, 'reason', reason, 'detail', detail,
        'changes', changes, 'createdAt', ${toIsoTime('created_at')}) as data
    from ${entries}) as fact`);

/** The old and new value of each changed field. It must never contain a secret. */
export type Changes = Readonly<
  Record<string, { readonly from: string | number | null; readonly to: string | number | null }>
>;

export interface NewAuditEntry {
  readonly orgId: string;
  readonly action: AuditAction;
  readonly actor: Actor;
  readonly subjectId: string;
  readonly reason?: string | null;
  readonly detail?: Readonly<Record<string, string | null>>;
  readonly changes?: Changes;
  readonly at: Date;
}

const ID_BYTES = 16;

/** Random bytes of many ids. They are drawn together, because a draw costs far more than the rest of an id. */
const pool = randomBytes(256 * ID_BYTES);
let sequence = 0;

/** Creates a UUIDv7 of the given time: entries sort by time, and a search by time is a range of ids. */
export function createAuditId(at: Date): string {
  sequence = (sequence + 1) % 2 ** 31;
  const start = (sequence * ID_BYTES) % pool.length;
  if (start === 0) randomFillSync(pool);
  return uuidv7({ msecs: at.getTime(), seq: sequence, random: pool.subarray(start, start + ID_BYTES) });
}

type NewAuditRow = Omit<AuditRow, 'detail' | 'changes'> & {
  readonly orgId: string;
  readonly detail: Readonly<Record<string, string | null>>;
  readonly changes: Changes;
};

const toRow = ({ actor: { actorId, credential, client }, at, ...entry }: NewAuditEntry): NewAuditRow => ({
  id: createAuditId(at),
  orgId: entry.orgId,
  action: entry.action,
  actorId,
  credentialKind: credential?.kind ?? null,
  credentialId: credential?.id ?? null,
  address: client?.address ?? null,
  userAgent: client?.userAgent ?? null,
  requestId: client?.requestId ?? null,
  subjectId: entry.subjectId,
  reason: entry.reason ?? null,
  detail: entry.detail ?? {},
  changes: entry.changes ?? {},
  createdAt: at,
});

/** Inserts entries with their facts. One parameter, since Prisma is slow with thousands. */
const insertGiven = (condition = '') => `
  with entry as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, request_id, subject_id, reason, detail, changes, created_at)
    select * from jsonb_to_recordset($1::jsonb) as given (
      id uuid, "orgId" uuid, action text, "actorId" uuid, "credentialKind" text, "credentialId" uuid, address text,
      "userAgent" text, "requestId" text, "subjectId" uuid, reason text, detail jsonb, changes jsonb, "createdAt" timestamptz)
    ${condition} returning *
  ) ${insertFactsOfEntries('entry')}`;

const insertAll = insertGiven();

const insertReported = insertGiven(`
    where exists (select from organisations where organisations.id = "orgId") on conflict do nothing`);

/** Inserts the entries of one act that changes many things. */
export const insertAuditEntries = (db: SqlClient, entries: readonly NewAuditEntry[]): Promise<unknown> =>
  db.query(insertAll, [JSON.stringify(entries.map(toRow))]);

/** Inserts an entry. Call it in the transaction of the recorded change. */
export const insertAuditEntry = (db: SqlClient, entry: NewAuditEntry): Promise<unknown> =>
  insertAuditEntries(db, [entry]);

/** Inserts entries that another service has reported, under its ids. Entries that exist already are left unchanged. */
export const insertReportedEntries = (
  db: SqlClient,
  entries: readonly Extract<ReportedFact, { type: 'audit.entry' }>[],
): Promise<unknown> => {
  const rows = entries.map(
    ({ id, orgId, at, data: { credential, reason = null, ...data } }): NewAuditRow => ({
      ...data,
      id,
      orgId,
      credentialKind: credential?.kind ?? null,
      credentialId: credential?.id ?? null,
      reason,
      changes: {},
      createdAt: new Date(at),
    }),
  );
  return db.query(insertReported, [JSON.stringify(rows)]);
};
