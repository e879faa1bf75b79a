import type pg from 'pg';
import { insertFactsOfEntries } from '../../audit/record.sql.js';
import type { ClientAddress } from '../../base/caller/client.js';

export interface FailedSignIn {
  /** The normalised address; there may be no such account. */
  readonly email: string;
  readonly method: 'password' | 'code' | 'second_factor' | 'passkey';
  readonly client: ClientAddress;
  /** Why it was refused although what was presented is right; undefined when that is wrong. */
  readonly reason?: 'provider required';
}

/** A failure with the id of its audit entry, so that writing it twice adds one entry. */
export interface StoredFailure extends FailedSignIn {
  readonly id: string;
  readonly at: Date;
}

/*
 * Writes each failure to the audit of the organisation whose member has the address. Failures at an unknown address
 * belong to no organisation and are dropped. Repeating the statement adds nothing.
 */
const insert = `
  with entry as (
    insert into audit_entries (id, org_id, action, subject_id, address, user_agent, request_id, reason, detail, created_at)
    select failed.id, users.org_id, 'sign_in.failed', users.id, failed.address, failed.user_agent, failed.request_id, failed.reason,
           jsonb_build_object('method', failed.method), failed.at
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
           as failed (id, email, method, address, user_agent, at, reason, request_id)
      join users on users.email = failed.email and users.removed_at is null
    order by failed.id
    on conflict do nothing
    returning *
  ) ${insertFactsOfEntries('entry')}`;

export const insertFailedSignIns = (db: pg.Pool, failures: readonly StoredFailure[]): Promise<unknown> =>
  db.query({
    name: 'insert_failed_sign_ins',
    text: insert,
    values: [
      failures.map(({ id }) => id),
      failures.map(({ email }) => email),
      failures.map(({ method }) => method),
      failures.map(({ client }) => client.address),
      failures.map(({ client }) => client.userAgent ?? null),
      failures.map(({ at }) => at),
      failures.map(({ reason }) => reason ?? null),
      failures.map(({ client }) => client.requestId),
    ],
  });
