import { fillTables } from '../../servers/service.js';

/** The rows to add to what was created through the API. */
export interface Filling {
  readonly organisations: number;
  /** Per organisation. */
  readonly members: number;
  /** Per organisation, spread over its members. */
  readonly tokens: number;
}

/*
 * Set-based inserts with UUIDv7 ids (PostgreSQL 18), as the service would have assigned them over the last 90 days.
 * Organisation 1 exists already: it was created through the API.
 */
const insertOrganisations = `
  insert into organisations (id, name, created_at)
  select uuidv7(), 'Organisation ' || n, now() from generate_series(2, $1::int) n`;

const insertMembers = `
  insert into users (id, org_id, email, full_name, role, created_at)
  select uuidv7(), o.id, 'm' || n || '.' || o.id || '@example.com', 'Member ' || n, 'member', now()
  from organisations o, generate_series(1, $1::int) n`;

const insertTokens = `
  insert into personal_access_tokens
    (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
  select uuidv7(-(interval '90 days') * random()), u.org_id, u.id, 'filling ' || n, '{kb:read,user:read}',
    encode(sha256(convert_to(u.id::text || n, 'UTF8')), 'base64'), (select id from signing_keys limit 1),
    now(), now() + interval '100 days' * (1 + random())
  from users u, generate_series(1, $1::int) n where u.role = 'member'`;

const insertUses = `
  insert into token_last_used (token_id, last_used_at)
  select id, now() from personal_access_tokens where right(id::text, 1) < '8'`;

const countRows = `
  insert into organisation_counters as counters (org_id, members, active_tokens)
  select id, (select count(*) from users where org_id = o.id and removed_at is null),
    (select count(*) from personal_access_tokens where org_id = o.id and status = 'active')
  from organisations o
  on conflict (org_id) do update set members = excluded.members, active_tokens = excluded.active_tokens`;

/** Inserts the rows. */
export const fill = (databaseUrl: string, { organisations, members, tokens }: Filling) =>
  fillTables(
    databaseUrl,
    ['organisations', 'users', 'personal_access_tokens', 'token_last_used', 'organisation_counters'],
    [insertOrganisations, [organisations]],
    [insertMembers, [members]],
    [insertTokens, [Math.round(tokens / members)]],
    [insertUses],
    [countRows],
  );
