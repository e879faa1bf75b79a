import type pg from 'pg';
import type { SmtpProblem } from '../delivery/outcome.js';
import type { EarlierMail, JournalEntry, MailState, MailOutcome } from './entry.js';

/*
 * Inserts many mails in one statement, passed as one JSON text: at 1,000 mails a second, one commit each would be the most
 * expensive thing that the service does. A resend locks the original mail, so that erasing one of its recipients either
 * happens before the resend, or finds it.
 */
const insertEntriesSql = `
  insert into mails (id, org_id, sender_id, subject, from_address, to_addresses, cc_addresses, template_type,
                     idempotency_key, request_digest, created_at, updated_at)
  select id, org_id, $1, subject, from_address, to_addresses, cc_addresses, template_type,
         idempotency_key, request_digest, created_at, created_at
  from jsonb_to_recordset($2::jsonb) as entry (
    id uuid, org_id uuid, subject text, from_address text, to_addresses text[], cc_addresses text[],
    template_type text, idempotency_key text, request_digest text, created_at timestamptz, original_mail_id uuid)
  where original_mail_id is null or exists (
    select from mails as repeated
    where repeated.id = original_mail_id and repeated.org_id = entry.org_id and not repeated.recipient_erased for share)
  on conflict (org_id, idempotency_key) where idempotency_key is not null do nothing
  returning id`;

/** @returns the ids that were written. Entries with a taken idempotency key and resends of an erased mail are left out. */
export async function insertEntries(
  db: pg.Pool,
  senderId: string,
  entries: readonly JournalEntry[],
): Promise<ReadonlySet<string>> {
  const rows = entries.map((entry) => ({
    id: entry.id,
    org_id: entry.orgId,
    subject: entry.subject,
    from_address: entry.from,
    to_addresses: entry.to,
    cc_addresses: entry.cc,
    template_type: entry.templateType,
    idempotency_key: entry.idempotency?.key ?? null,
    request_digest: entry.idempotency?.digest ?? null,
    created_at: entry.createdAt.toISOString(),
    original_mail_id: entry.originalMailId ?? null,
  }));
  const result = await db.query<[string]>({
    name: 'insert_entries',
    text: insertEntriesSql,
    values: [senderId, JSON.stringify(rows)],
    rowMode: 'array',
  });
  return new Set(result.rows.map(([id]) => id));
}

/**
 * Also updates `unknown` mails, because a sender that was considered dead may come back with the outcome. It never restores
 * a recipient that was erased in the meantime.
 *
 * The statement has no join: planned for an empty table, a join would read the whole index for each batch. The state is
 * compared as text for the same reason: rows are found by id, not through the index on organisation and state.
 */
const storeOutcomesSql = `
  update mails set
    state = ($2::jsonb -> id::text ->> 'state')::mail_state,
    encrypted_request = case when not recipient_erased then $2::jsonb -> id::text ->> 'encryptedRequest' end,
    content_sealed = case when not recipient_erased then $2::jsonb -> id::text ->> 'encryptedContent' end,
    can_resend = not recipient_erased and ($2::jsonb -> id::text ->> 'encryptedRequest') is not null,
    problem = $2::jsonb -> id::text -> 'problem',
    refused_addresses = array(
      select refused from jsonb_array_elements_text($2::jsonb -> id::text -> 'refused') as refused
      where not recipient_erased or refused = any(to_addresses || cc_addresses)),
    updated_at = $3
  where id = any($1::uuid[]) and state::text in ('pending', 'unknown')`;

export async function storeOutcomes(db: pg.Pool, outcomes: readonly MailOutcome[], at: Date): Promise<void> {
  await db.query({
    name: 'store_outcomes',
    text: storeOutcomesSql,
    values: [
      outcomes.map(({ id }) => id),
      JSON.stringify(Object.fromEntries(outcomes.map(({ id, ...outcome }) => [id, outcome]))),
      at,
    ],
  });
}

export interface EarlierKey {
  readonly orgId: string;
  readonly key: string;
}

const findByKeysSql = `
  select wanted.at::int, mails.id, state, request_digest, refused_addresses, problem
  from unnest($1::uuid[], $2::text[]) with ordinality as wanted (org_id, key, at)
  cross join lateral (
    select * from mails where org_id = wanted.org_id and idempotency_key = wanted.key
  ) as mails`;

/** @returns the mail with each key, or undefined where there is none, in the order of the keys. */
export async function findByKeys(
  db: pg.Pool,
  keys: readonly EarlierKey[],
): Promise<(EarlierMail | undefined)[]> {
  type Row = [number, string, MailState, string, string[], SmtpProblem | null];
  const { rows } = await db.query<Row>({
    name: 'find_by_keys',
    text: findByKeysSql,
    values: [keys.map(({ orgId }) => orgId), keys.map(({ key }) => key)],
    rowMode: 'array',
  });
  const found = new Map(
    rows.map(([at, id, state, digest, refused, problem]) => [
      at,
      { id, state, digest, refused, problem: problem ?? undefined },
    ]),
  );
  return keys.map((_key, index) => found.get(index + 1));
}

export async function recordHeartbeat(db: pg.Pool, senderId: string): Promise<void> {
  await db.query(
    'insert into senders (id, seen_at) values ($1, now()) on conflict (id) do update set seen_at = excluded.seen_at',
    [senderId],
  );
}

/** Keeps the row if the sender left a mail pending, so that another process marks that mail as unknown. */
export async function deregisterSender(db: pg.Pool, senderId: string): Promise<void> {
  await db.query(
    `delete from senders where id = $1
       and not exists (select from mails where sender_id = $1 and state = 'pending')`,
    [senderId],
  );
}

/**
 * Marks the pending mails of dead senders as unknown, and removes those senders.
 *
 * @returns the number of mails that were marked.
 */
export async function abandonEntries(db: pg.Pool, senderTimeoutMs: number): Promise<number> {
  const { rowCount } = await db.query(
    `update mails set state = 'unknown', updated_at = now()
     where state = 'pending' and sender_id in (
       select id from senders where seen_at < now() - $1 * interval '1 millisecond')`,
    [senderTimeoutMs],
  );
  await db.query(
    `delete from senders where seen_at < now() - $1 * interval '1 millisecond'
       and not exists (select from mails where sender_id = senders.id and state = 'pending')`,
    [senderTimeoutMs],
  );
  return rowCount ?? 0;
}

/**
 * Deletes this sender's pending mails that are not in progress. The database committed them after their requests had
 * failed with 503, so they were never sent.
 *
 * @returns the number of mails that were deleted.
 */
export async function deleteLateEntries(
  db: pg.Pool,
  senderId: string,
  inProgress: readonly string[],
  createdBefore: Date,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from mails
     where sender_id = $1 and state = 'pending' and created_at < $3 and id <> all($2::uuid[])`,
    [senderId, inProgress, createdBefore],
  );
  return rowCount ?? 0;
}
