import type { SmtpProblem } from '@platform/events/facts';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { RecipientOutcome } from '../delivery/outcome.js';
import { isGone } from '../delivery/smtp-replies.js';
import { insertSuppressionFacts } from '../suppressions/facts.sql.js';
import { SUPPRESSED_DAYS, SUPPRESSIBLE_TEMPLATES } from '../suppressions/rules.js';
import {
  type AttemptEnd,
  priorities,
  type MailClaim,
  type MailState,
  type MailStatus,
  type NewMail,
} from './mail.js';
import { ENDED_MAIL_COLUMNS, insertMailFacts } from './facts.sql.js';
import { UPKEEP_BATCH } from './retention.sql.js';

/*
 * Statements that many requests share get their rows as one JSON text: at 1,000 mails a second, a commit for each would be
 * the most expensive thing that the service does. Leases are measured by the clock of the database, which all replicas share.
 *
 * Rows are found by their ids, and without a join: planned for an empty table, a join would read a whole index for each
 * batch. The state is compared as text for the same reason.
 */

/**
 * A replica that dies delays the codes that it has claimed this long. Until the message of a code is begun, its lease is
 * renewed three times in that time: should the machine be too busy even for that, another replica claims the code, and the
 * write of this one's beginning fails, so it is not sent twice. From the beginning of the message on, the lease is that of
 * any other mail. It is twice as long with each further attempt: on a machine that is always that busy, codes would
 * otherwise be claimed for ever, and never sent.
 */
export const CODE_LEASE_MS = 1_500;

/**
 * The end of a lease that begins now.
 *
 * @param parameter - of a statement: the duration in ms.
 * @param earlier - an expression: the number of earlier attempts.
 */
export const leaseEnd = (parameter: string, earlier: string): string =>
  `now() + case when priority = ${priorities.code} and not caller_waits
                then least(${parameter}::int, ${CODE_LEASE_MS} * 2 ^ least(${earlier}, 8))
                else ${parameter}::int end * interval '1 ms'`;

/** The suppressed recipients of a mail that is about to be sent. */
export const suppressedAddresses = `array(
    select lower(one) from unnest(mails.to_addresses || mails.cc_addresses) as one
    where mails.state = 'sending' and mails.priority = ${priorities.bulk}
      and mails.template_type in (${SUPPRESSIBLE_TEMPLATES.map((type) => `'${type}'`).join(', ')}) and exists (
      select from suppressions
      where suppressions.org_id = mails.org_id and suppressions.address = lower(one)
        and suppressions.expires_at > mails.updated_at))`;

const insertSql = `
  insert into mails (id, org_id, state, priority, caller_waits, claim, attempts, lease_until, at_least_once, can_resend,
                     next_attempt_at, expires_at, subject, from_address, to_addresses, cc_addresses, template_type,
                     idempotency_key, request_digest, reference, sender_id, sealed_request, sealed_content, stored_bytes, created_at,
                     updated_at)
  select id, org_id, case when is_claimed then 'sending' else 'queued' end::mail_state, priority, caller_waits,
         is_claimed::int, is_claimed::int, case when is_claimed then now() + $2 * interval '1 ms' end, at_least_once,
         can_resend, created_at, expires_at, subject, from_address, to_addresses, cc_addresses, template_type,
         idempotency_key, request_digest, reference, sender_id, sealed_request, sealed_content, stored_bytes, created_at, created_at
  from jsonb_to_recordset($1::jsonb) as mail (
    id uuid, org_id uuid, priority smallint, is_claimed boolean, caller_waits boolean, at_least_once boolean, can_resend boolean,
    expires_at timestamptz, subject text, from_address text, to_addresses text[], cc_addresses text[],
    template_type text, idempotency_key text, request_digest text, reference text, sender_id uuid, sealed_request text,
    sealed_content text, stored_bytes integer, created_at timestamptz)
  on conflict (org_id, idempotency_key) where idempotency_key is not null do nothing
  returning id, ${suppressedAddresses}`;

const toColumns = (mail: NewMail) => ({
  id: mail.id,
  org_id: mail.orgId,
  priority: mail.priority,
  is_claimed: mail.callerWaits,
  // A resend is queued when its replica dies, because its row has the only copy of the request.
  caller_waits: mail.callerWaits && mail.originalMailId === undefined,
  at_least_once: mail.atLeastOnce,
  can_resend: mail.canResend,
  expires_at: mail.expiresAt.toISOString(),
  subject: mail.subject,
  from_address: mail.from,
  to_addresses: mail.to,
  cc_addresses: mail.cc,
  template_type: mail.templateType,
  idempotency_key: mail.idempotency?.key ?? null,
  request_digest: mail.idempotency?.digest ?? null,
  reference: mail.reference,
  sender_id: mail.senderId,
  sealed_request: mail.sealedRequest,
  sealed_content: mail.sealedContent,
  stored_bytes: mail.storedBytes,
  created_at: mail.createdAt.toISOString(),
});

/** Replicas insert keys in the same order, so that they can't wait for each other. */
const toOrder = ({ orgId, idempotency }: NewMail): string => `${orgId} ${idempotency?.key ?? ''}`;

/** The mails that were written, by id, each with its suppressed recipients in lower case: none while it is queued. */
type WrittenMails = ReadonlyMap<string, readonly string[]>;

/** @returns the mails that were written. Those with a taken idempotency key are left out. */
export async function insertMails(
  db: pg.Pool | pg.ClientBase,
  mails: readonly NewMail[],
  leaseMs: number,
): Promise<WrittenMails> {
  const ordered = mails.toSorted((a, b) => (toOrder(a) < toOrder(b) ? -1 : 1));
  const result = await db.query<[string, string[]]>({
    name: 'insert_mails',
    text: insertSql,
    values: [JSON.stringify(ordered.map(toColumns)), leaseMs],
    rowMode: 'array',
  });
  return new Map(result.rows);
}

export interface AttachmentPiece {
  readonly attachment: number;
  readonly piece: number;
  readonly sealed: Buffer;
}

/**
 * Stores a mail together with its attachments, which are encrypted one piece at a time.
 *
 * @returns its suppressed recipients, or undefined when its idempotency key is taken.
 */
export const insertMailWithAttachments = (
  db: pg.Pool,
  mail: NewMail,
  pieces: AsyncIterable<AttachmentPiece>,
): Promise<readonly string[] | undefined> =>
  inTransaction(db, async (client) => {
    const suppressed = (await insertMails(client, [mail], 0)).get(mail.id);
    if (suppressed)
      for await (const { attachment, piece, sealed } of pieces)
        await client.query(
          'insert into mail_attachments (mail_id, attachment, piece, sealed) values ($1, $2, $3, $4)',
          [mail.id, attachment, piece, sealed],
        );
    return suppressed;
  });

const isResendable = `id = $2 and org_id = $1 and state::text in ('failed', 'unknown') and sealed_request is not null
  and not recipient_erased`;

export interface ResendableMail {
  readonly sealedRequest: string;
  /** Addresses in lower case that have the mail. */
  readonly accepted: readonly string[];
}

/** @returns the request of a mail that failed or is unknown, or undefined when there is none, or no longer one. */
export async function findResendable(
  db: pg.Pool,
  orgId: string,
  id: string,
): Promise<ResendableMail | undefined> {
  const { rows } = await db.query<ResendableMail>(
    `select sealed_request as "sealedRequest", array(
       select address from mail_recipients recipients
       where recipients.mail_id = mails.id and recipients.outcome = 'accepted') as accepted
     from mails where ${isResendable}`,
    [orgId, id],
  );
  return rows[0];
}

/**
 * Stores a mail that resends another one, whose request, reference and sender it takes over: of two concurrent resends only one is
 * stored. The original mail is locked meanwhile, so that erasing one of its recipients either happens before, or finds the
 * resend.
 *
 * @returns its suppressed recipients, or undefined when the original mail can't be resent any more.
 */
export const insertResend = (
  db: pg.Pool,
  mail: NewMail,
  originalMailId: string,
  leaseMs: number,
): Promise<readonly string[] | undefined> =>
  inTransaction(db, async (client) => {
    const { rows } = await client.query<Pick<NewMail, 'reference' | 'senderId'>>(
      `update mails set sealed_request = null, can_resend = false
       where ${isResendable} returning reference, sender_id as "senderId"`,
      [mail.orgId, originalMailId],
    );
    const [original] = rows;
    if (!original) return undefined;
    return (await insertMails(client, [{ ...mail, ...original }], leaseMs)).get(mail.id);
  });

/** @returns one piece of an attachment; undefined when there is none. */
export async function findAttachmentPiece(
  db: pg.Pool,
  mailId: string,
  attachment: number,
  piece: number,
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed: Buffer }>({
    name: 'find_attachment_piece',
    text: 'select sealed from mail_attachments where mail_id = $1 and attachment = $2 and piece = $3',
    values: [mailId, attachment, piece],
  });
  return rows[0]?.sealed;
}

const toClaims = (claims: readonly MailClaim[]): string =>
  JSON.stringify(Object.fromEntries(claims.map(({ id, claim }) => [id, claim])));

const isHeld = `id = any($1::uuid[]) and claim = ($2::jsonb ->> id::text)::int and state::text = 'sending'`;

/**
 * Stores that the messages of these mails are being handed over: from now on, an expired lease makes the outcome unknown. That
 * of a code is renewed, because it was short until now. Others stay as they are, since a changed one would change an index.
 *
 * @returns the ids of the mails whose claims are valid.
 */
export async function markDataBegun(
  db: pg.Pool,
  claims: readonly MailClaim[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<[string]>({
    name: 'mark_data_begun',
    text: `update mails set data_begun = true,
             lease_until = case when priority = ${priorities.code} then now() + $3::int * interval '1 ms' else lease_until end
           where ${isHeld} returning id`,
    values: [claims.map(({ id }) => id), toClaims(claims), leaseMs],
    rowMode: 'array',
  });
  return new Set(rows.map(([id]) => id));
}

export async function renewLeases(db: pg.Pool, claims: readonly MailClaim[], leaseMs: number): Promise<void> {
  await db.query({
    name: 'renew_leases',
    text: `update mails set lease_until = case when data_begun then now() + $3::int * interval '1 ms' else ${leaseEnd('$3', 'attempts - 1')} end
           where ${isHeld}`,
    values: [claims.map(({ id }) => id), toClaims(claims), leaseMs],
  });
}

/**
 * Ends attempts. A mail that is unknown or queued again, because its lease expired, still gets the outcome of its last
 * claim, if it is known: storing it twice changes nothing. Outcomes of recipients are stored in the same statement: a mail that
 * is tried again must not go to recipients who have it.
 */
const endSql = `
  with known as materialized (
    select id from mails where id = any($1::uuid[]) and state::text = 'unknown'
  ), ended as (
    update mails set
      state = case when $2::jsonb -> id::text ->> 'state' = 'queued' and sealed_request is null then 'failed'
                   else $2::jsonb -> id::text ->> 'state' end::mail_state,
      lease_until = null,
      data_begun = data_begun and $2::jsonb -> id::text ->> 'state' <> 'queued',
      caller_waits = false,
      attempts = attempts - (($2::jsonb -> id::text ->> 'isCounted')::boolean is false)::int,
      unknown_attempts = unknown_attempts + (($2::jsonb -> id::text ->> 'isUnknown')::boolean is true)::int,
      next_attempt_at = coalesce(($2::jsonb -> id::text ->> 'nextAttemptAt')::timestamptz, next_attempt_at),
      problem = $2::jsonb -> id::text -> 'problem',
      sealed_request = case
        when $2::jsonb -> id::text ->> 'state' = 'queued' then sealed_request
        when $2::jsonb -> id::text ->> 'state' <> 'sent' and can_resend and not recipient_erased then sealed_request end,
      can_resend = can_resend and $2::jsonb -> id::text ->> 'state' <> 'sent' and not recipient_erased,
      sealed_content = case when not recipient_erased then sealed_content end,
      updated_at = $3
    where id = any($1::uuid[]) and claim = ($2::jsonb -> id::text ->> 'claim')::int
      and (state::text = 'sending'
           or state::text = 'unknown' and ($2::jsonb -> id::text ->> 'state' <> 'unknown' or id in (select id from known))
           or state::text = 'queued' and not $2::jsonb -> id::text ?| '{isUnknown,isCounted}')
    returning ${ENDED_MAIL_COLUMNS}, addresses_to_erase
  ), facts as (${insertMailFacts(`(select * from ended where state <> 'unknown' or id not in (select id from known)) as news`)}
  ), marked as (
    update mail_recipients recipients set outcome = given.state, status = given.status
    from ended, jsonb_to_recordset($4::jsonb) as given (mail_id uuid, address text, state text, status text)
    where given.mail_id = ended.id and recipients.org_id = ended.org_id and recipients.mail_id = ended.id
      and recipients.address = given.address
  ), suppressed as (
    insert into suppressions (id, org_id, address, reason, status, created_at, expires_at)
    select distinct on (ended.org_id, given.address)
      given.suppression_id, ended.org_id, given.address, 'refused', given.status, $3, $3 + interval '${SUPPRESSED_DAYS} days'
    from ended, jsonb_to_recordset($4::jsonb) as given (mail_id uuid, address text, status text, suppression_id uuid)
    where given.mail_id = ended.id and given.suppression_id is not null
      and given.address <> all(ended.addresses_to_erase)
    order by ended.org_id, given.address
    on conflict (org_id, address) do update set expires_at = excluded.expires_at
    returning *, xmax = 0 as is_new
  ), suppression_facts as (${insertSuppressionFacts('(select * from suppressed where is_new)')}
  ), emptied as (
    delete from mail_attachments where mail_id in (select id from ended where state <> 'queued')
  )
  select id from ended`;

/** @returns the ids of the mails whose claims were valid. */
export async function endAttempts(
  db: pg.Pool,
  ends: readonly AttemptEnd[],
  at: Date,
): Promise<ReadonlySet<string>> {
  const recipients = ends.flatMap(({ id, recipients: given = [] }) =>
    given.map(({ address, state, status }) => ({
      mail_id: id,
      address: address.toLowerCase(),
      state,
      status: status ?? null,
      suppression_id: state === 'refused' && isGone(status ?? '') ? uuidv7() : null,
    })),
  );
  const { rows } = await db.query<[string]>({
    name: 'end_attempts',
    text: endSql,
    values: [
      ends.map(({ id }) => id),
      JSON.stringify(Object.fromEntries(ends.map(({ id, recipients: _given, ...end }) => [id, end]))),
      at,
      JSON.stringify(recipients),
    ],
    rowMode: 'array',
  });
  return new Set(rows.map(([id]) => id));
}

export interface ExpiredLeases {
  readonly withdrawn: number;
  readonly queued: number;
  readonly unknown: number;
}

/** An outcome may be unknown so many times; then the mail isn't tried again, whatever it is. */
export const MAX_UNKNOWN_ATTEMPTS = 2;

/**
 * Ends the claims of replicas that died. What may have reached an SMTP server is unknown; the rest is queued again, or
 * deleted when its caller was waiting: no response said that it would be sent.
 */
export async function expireLeases(db: pg.Pool): Promise<ExpiredLeases> {
  const { rows } = await db.query<ExpiredLeases>(`
    with expired as (
      select id, data_begun, caller_waits,
             at_least_once and not caller_waits and sealed_request is not null
               and unknown_attempts + 1 < ${MAX_UNKNOWN_ATTEMPTS} as is_repeated
      from mails where state = 'sending' and lease_until < now() limit 500 for update skip locked
    ), withdrawn as (
      delete from mails using expired
      where mails.id = expired.id and expired.caller_waits and not expired.data_begun
      returning mails.id
    ), queued as (
      update mails set state = 'queued', lease_until = null, data_begun = false, next_attempt_at = now(),
        unknown_attempts = unknown_attempts + expired.data_begun::int, updated_at = now()
      from expired
      where mails.id = expired.id and (expired.is_repeated or not expired.data_begun)
        and not (expired.caller_waits and not expired.data_begun)
      returning mails.id
    ), unknown as (
      update mails set state = 'unknown', lease_until = null, caller_waits = false, updated_at = now(),
        unknown_attempts = unknown_attempts + 1, problem = null,
        sealed_request = case when can_resend and not recipient_erased then sealed_request end
      from expired where mails.id = expired.id and expired.data_begun and not expired.is_repeated
      returning ${ENDED_MAIL_COLUMNS}
    ), facts as (${insertMailFacts('unknown')}
    ), emptied as (
      delete from mail_attachments where mail_id in (select id from unknown)
    )
    select (select count(*) from withdrawn)::int as withdrawn, (select count(*) from queued)::int as queued,
      (select count(*) from unknown)::int as unknown`);
  return rows[0] ?? { withdrawn: 0, queued: 0, unknown: 0 };
}

/** Ends a batch of the mails that expired in the queue. @returns the number of mails. */
export async function expireQueued(db: pg.Pool, at: Date): Promise<number> {
  const { rowCount } = await db.query(
    `with expired as (
       select id, exists (select from mail_recipients recipients
                          where recipients.mail_id = mails.id and recipients.outcome = 'accepted') as is_sent
       from mails where state = 'queued' and expires_at <= $1
       limit ${UPKEEP_BATCH} for update skip locked
     ), refused as (
       update mail_recipients recipients set outcome = 'refused' from expired
       where recipients.mail_id = expired.id and recipients.outcome = 'deferred'
     ), emptied as (
       delete from mail_attachments where mail_id in (select id from expired)
     ), ended as (
       update mails set
         state = case when expired.is_sent then 'sent' else 'failed' end::mail_state,
         problem = coalesce(problem, '{"code": "EEXPIRED"}'),
         sealed_request = case when can_resend and not recipient_erased and not expired.is_sent then sealed_request end,
         can_resend = can_resend and not expired.is_sent,
         updated_at = $1
       from expired where mails.id = expired.id
       returning ${ENDED_MAIL_COLUMNS}
     ) ${insertMailFacts('ended')}`,
    [at],
  );
  return rowCount ?? 0;
}

const statusColumns = `mails.id, state, request_digest, problem, array(
  select array[one, outcome] from unnest(to_addresses || cc_addresses) as one
  join mail_recipients recipients on recipients.mail_id = mails.id and recipients.org_id = mails.org_id
    and recipients.address = lower(one)
  where outcome is not null)`;

type StatusRow = [
  number,
  string,
  MailState,
  string | null,
  SmtpProblem | null,
  [string, RecipientOutcome['state']][],
];
const toStatus = ([, id, state, digest, problem, recipients]: StatusRow): MailStatus => ({
  id,
  state,
  digest,
  recipients: recipients.map(([address, outcome]) => ({ address, state: outcome })),
  problem: problem ?? undefined,
});

export interface MailKey {
  readonly orgId: string;
  readonly key: string;
}

/** @returns the mail with each key, or undefined where there is none, in the order of the keys. */
export async function findByKeys(db: pg.Pool, keys: readonly MailKey[]): Promise<(MailStatus | undefined)[]> {
  const { rows } = await db.query<StatusRow>({
    name: 'find_by_keys',
    text: `
      select wanted.at::int, mails.* from unnest($1::uuid[], $2::text[]) with ordinality as wanted (org_id, key, at)
      cross join lateral (
        select ${statusColumns} from mails where org_id = wanted.org_id and idempotency_key = wanted.key
      ) as mails`,
    values: [keys.map(({ orgId }) => orgId), keys.map(({ key }) => key)],
    rowMode: 'array',
  });
  const found = new Map(rows.map((row) => [row[0], toStatus(row)]));
  return keys.map((_key, index) => found.get(index + 1));
}

export async function findStatus(db: pg.Pool, id: string): Promise<MailStatus | undefined> {
  const { rows } = await db.query<StatusRow>({
    name: 'find_status',
    text: `select 0, ${statusColumns} from mails where id = $1`,
    values: [id],
    rowMode: 'array',
  });
  return rows[0] && toStatus(rows[0]);
}

/** Counts the queued mails that are due, and the age of the oldest in seconds. It reads at most `maxCount` of them. */
export async function measureQueue(
  db: pg.Pool,
  at: Date,
  maxCount: number,
): Promise<{ readonly due: number; readonly oldestSeconds: number }> {
  const { rows } = await db.query<{ due: number; oldestSeconds: number | null }>(
    `select count(*)::int as due, extract(epoch from $1 - min(next_attempt_at))::float as "oldestSeconds"
     from (select next_attempt_at from mails where state = 'queued' and next_attempt_at <= $1
           order by next_attempt_at limit $2) due`,
    [at, maxCount],
  );
  return { due: rows[0]?.due ?? 0, oldestSeconds: rows[0]?.oldestSeconds ?? 0 };
}

/** How much of the queue an organisation's mails take, apart from codes and notices. */
export interface QueueUse {
  readonly mails: number;
  readonly bytes: number;
}

/** Reads at most `maxMails` entries of an index. */
export async function measureQueueOf(db: pg.Pool, orgId: string, maxMails: number): Promise<QueueUse> {
  const { rows } = await db.query<QueueUse>({
    name: 'measure_queue_of',
    text: `select count(*)::int as mails, coalesce(sum(stored_bytes), 0)::float as bytes
           from (select stored_bytes from mails where org_id = $1 and state = 'queued' and priority = 2 limit $2) queued`,
    values: [orgId, maxMails],
  });
  return rows[0] ?? { mails: 0, bytes: 0 };
}
