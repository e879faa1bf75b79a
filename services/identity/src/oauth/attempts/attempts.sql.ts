import { firstIdAt } from '@platform/service-kit';
import type pg from 'pg';
import type { RecordedStep, Step } from './steps.js';

export interface NewStep {
  readonly id: string;
  readonly at: Date;
  readonly network: string;
  readonly step: Step;
  readonly clientId: string | null;
  readonly userAgent: string | null;
  readonly fault: string | null;
  /** The member; null before somebody has signed in. */
  readonly userId: string | null;
}

const insert = `
  insert into connection_steps (id, at, network, step, client_id, user_agent, fault, user_id, org_id)
  select new.id, new.at, new.network, new.step, new.client_id, new.user_agent, new.fault, member.id, member.org_id
  from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::uuid[])
      as new (id, at, network, step, client_id, user_agent, fault, user_id)
    left join users member on member.id = new.user_id
  on conflict do nothing`;

export const insertSteps = (db: pg.Pool, rows: readonly NewStep[]): Promise<unknown> =>
  db.query({
    name: 'insert_connection_steps',
    text: insert,
    values: [
      rows.map(({ id }) => id),
      rows.map(({ at }) => at),
      rows.map(({ network }) => network),
      rows.map(({ step }) => step),
      rows.map(({ clientId }) => clientId),
      rows.map(({ userAgent }) => userAgent),
      rows.map(({ fault }) => fault),
      rows.map(({ userId }) => userId),
    ],
  });

const MAX_STEPS = 200;

const columns = `id, step, at, client_id as "clientId", user_agent as "userAgent", fault, user_id as "userId"`;

/* The member's own steps, and those of nobody from the member's network. Each half is a range of its index. */
const ofMember = `
  select * from (
    (select ${columns} from connection_steps where user_id = $1 and org_id = $2 order by id desc limit ${MAX_STEPS})
    union all
    (select ${columns} from connection_steps where network = $3 and user_id is null and id >= $4 order by id desc limit ${MAX_STEPS})
  ) found order by id`;

/** Finds the steps that a member may see, the oldest first. @param since - for those of nobody. */
export async function findSteps(
  db: pg.Pool,
  of: { readonly userId: string; readonly orgId: string; readonly network: string },
  since: Date,
): Promise<RecordedStep[]> {
  const { rows } = await db.query<RecordedStep>({
    name: 'connection_steps_of_member',
    text: ofMember,
    values: [of.userId, of.orgId, of.network, firstIdAt(since.getTime())],
  });
  return rows;
}

/** Finds the steps of all members of an organisation, the oldest first. */
export async function findOrganisationSteps(db: pg.Pool, orgId: string): Promise<RecordedStep[]> {
  const { rows } = await db.query<RecordedStep>({
    name: 'connection_steps_of_organisation',
    text: `select * from (
             select ${columns} from connection_steps where org_id = $1 order by id desc limit ${MAX_STEPS}
           ) found order by id`,
    values: [orgId],
  });
  return rows;
}

/** Returns which clients have called a tool for a member since a time. */
export async function findCallers(
  db: pg.Pool,
  wanted: readonly { readonly userId: string; readonly clientId: string; readonly since: Date }[],
): Promise<readonly boolean[]> {
  if (wanted.length === 0) return [];
  const { rows } = await db.query<{ called: boolean }>({
    name: 'connection_callers',
    text: `select exists (select from tool_calls where user_id = wanted.user_id and client_id = wanted.client_id and id >= wanted.since) as called
           from unnest($1::uuid[], $2::text[], $3::uuid[]) with ordinality as wanted (user_id, client_id, since, nth) order by nth`,
    values: [
      wanted.map(({ userId }) => userId),
      wanted.map(({ clientId }) => clientId),
      wanted.map(({ since }) => firstIdAt(since.getTime())),
    ],
  });
  return rows.map(({ called }) => called);
}

/** Returns the names of clients by their ids. Those that a client gives itself are not verified. */
export async function findClientNames(
  db: pg.Pool,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<{ id: string; name: string }>({
    name: 'connection_client_names',
    text: 'select id, name from oauth_clients where id = any($1::text[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns the addresses of members of the organisation by their ids. */
export async function findEmails(
  db: pg.Pool,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<{ id: string; email: string }>({
    name: 'connection_emails',
    text: 'select id::text, email from users where org_id = $1 and id = any($2::uuid[])',
    values: [orgId, ids],
  });
  return new Map(rows.map(({ id, email }) => [id, email]));
}
