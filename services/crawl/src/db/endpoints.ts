import { type Connector, MAX_AUDITED_VALUE_LENGTH } from '@platform/events';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import type { Act } from '../domain/act.js';
import { insertAudit, toAudit } from './facts.js';
import type { Transaction } from './transaction.js';

/* Endpoints that organisations have registered. Every statement names the organisation. */

export interface EndpointKey {
  readonly orgId: string;
  readonly endpointId: string;
}

export interface Endpoint {
  readonly id: string;
  readonly orgId: string;
  readonly url: string;
  readonly description: string;
  /** The secrets that sign requests, sealed together: the current one, and those that were replaced within a day. */
  readonly secretsSealed: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly rotatedAt: Date | null;
  /** The connectors whose schedules use it. */
  readonly connectors: readonly Connector[];
}

const columns = `e.id, e.org_id as "orgId", e.url, e.description, e.secrets_sealed as "secretsSealed",
  e.created_by as "createdBy", e.created_at as "createdAt", e.rotated_at as "rotatedAt",
  array(select distinct s.connector from schedules s where s.org_id = e.org_id and s.endpoint_id = e.id order by 1) as connectors`;

export async function listEndpoints(db: pg.Pool, orgId: string): Promise<Endpoint[]> {
  const { rows } = await db.query<Endpoint>(
    `select ${columns} from endpoints e where e.org_id = $1 order by e.created_at, e.id`,
    [orgId],
  );
  return rows;
}

/** Returns the ids of the endpoints with the text in their description or address, in any case. */
export async function findEndpointIds(db: pg.Pool, orgId: string, text: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from endpoints
     where org_id = $1 and position(lower($2) in lower(description || ' ' || url)) > 0`,
    [orgId, text],
  );
  return rows.map(({ id }) => id);
}

export async function findEndpoint(
  db: pg.Pool | Transaction,
  { orgId, endpointId }: EndpointKey,
): Promise<Endpoint | undefined> {
  const { rows } = await db.query<Endpoint>(
    `select ${columns} from endpoints e where e.org_id = $1 and e.id = $2`,
    [orgId, endpointId],
  );
  return rows[0];
}

export type NewEndpoint = Omit<Endpoint, 'rotatedAt' | 'connectors'>;

/** Returns the statement, which changes one endpoint, with its entry in the audit. */
const audited = (statement: string, audit: string) => `
  with changed as (${statement} returning org_id, id, url), audited as (${insertAudit(
    `select org_id, id as subject_id, jsonb_build_object('url', left(split_part(url, '?', 1), ${MAX_AUDITED_VALUE_LENGTH})) as detail from changed`,
    audit,
  )}) select from changed`;

/** @returns false when the organisation has `max` endpoints. */
export async function insertEndpoint(
  db: pg.Pool,
  endpoint: NewEndpoint,
  max: number,
  act: Act | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    audited(
      `insert into endpoints (id, org_id, url, description, secrets_sealed, created_by, created_at)
       select $1, $2::uuid, $3, $4, $5, $6, $7 where (select count(*) from endpoints where org_id = $2) < $8`,
      '$9',
    ),
    [
      endpoint.id,
      endpoint.orgId,
      endpoint.url,
      endpoint.description,
      endpoint.secretsSealed,
      endpoint.createdBy,
      endpoint.createdAt,
      max,
      toAudit('crawl_endpoint.created', act),
    ],
  );
  return rowCount === 1;
}

/** @param seal - returns the new sealed secrets. @returns the endpoint as it is then; undefined when there is none. */
export const rotateSecrets = (
  pool: pg.Pool,
  key: EndpointKey,
  act: Act,
  seal: (endpoint: Endpoint) => string,
): Promise<Endpoint | undefined> =>
  inTransaction(pool, async (tx) => {
    await tx.query('select from endpoints where org_id = $1 and id = $2 for update', [
      key.orgId,
      key.endpointId,
    ]);
    const endpoint = await findEndpoint(tx, key);
    if (!endpoint) return undefined;
    await tx.query(audited('update endpoints set secrets_sealed = $2, rotated_at = $3 where id = $1', '$4'), [
      endpoint.id,
      seal(endpoint),
      act.at,
      toAudit('crawl_endpoint.secret_rotated', act),
    ]);
    return findEndpoint(tx, key);
  });

/** Whether the error is that a schedule names an endpoint that there is not, or no longer. */
export const isEndpointViolation = (error: unknown): boolean =>
  (error as { constraint?: unknown }).constraint === 'schedules_endpoint';

/** @returns false when there was none. @throws an error that is {@link isEndpointViolation} while a schedule uses it. */
export async function deleteEndpoint(
  db: pg.Pool,
  { orgId, endpointId }: EndpointKey,
  act: Act | null,
): Promise<boolean> {
  const { rowCount } = await db.query(audited('delete from endpoints where org_id = $1 and id = $2', '$3'), [
    orgId,
    endpointId,
    toAudit('crawl_endpoint.removed', act),
  ]);
  return rowCount === 1;
}
