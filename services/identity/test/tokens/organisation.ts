import { createLogger, createSecretBox, DAY_MS } from '@platform/service-kit';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { createNoticesJob } from '../../src/tokens/watch/notices/notices.job.js';
import { createUnusedJob } from '../../src/tokens/watch/unused/unused.job.js';
import type { IdentityUnderTest } from '../identity.js';
import { noPolicy, policyPath } from '../token-policy.js';

let count = 0;

/** The line of a digest about a token. */
export type DigestLine = Readonly<Record<string, string>>;

/** A new organisation for each test, whose tokens and mails the test reads. */
export async function createOrganisation(identity: IdentityUnderTest) {
  const { orgId, session } = await identity.createOrganisation(`organisation-${++count}@example.com`);
  const { db } = identity;
  const adminId = (await identity.call('GET', '/api/v1/users/me', { token: session })).body.user.id as string;
  const put = (policy: object) =>
    identity.call('PUT', policyPath, { token: session, body: { ...noPolicy, ...policy } });
  return {
    orgId,
    session,
    adminId,
    put,
    /** Saves a policy as if it had been saved long ago, so that every day without a use counts. */
    async putLongAgo(policy: object): Promise<void> {
      expect((await put(policy)).status).toBe(200);
      await db.query(
        `update token_policies set unused_from = now() - interval '10 years' where org_id = $1`,
        [orgId],
      );
    },
    async createAccount(name: string): Promise<string> {
      const body = { name, role: 'member' };
      const answer = await identity.call('POST', '/api/v1/service-accounts', { token: session, body });
      expect(answer.status).toBe(201);
      return answer.body.serviceAccount.id as string;
    },
    insertToken: (name: string, fields: Omit<InsertedToken, 'orgId'> = {}) =>
      insertToken(identity, name, { orgId, ownerId: adminId, ...fields }),
    use: (tokenId: string, at: number) =>
      db.query(
        `insert into token_last_used (token_id, last_used_at) values ($1, $2)
         on conflict (token_id) do update set last_used_at = excluded.last_used_at`,
        [tokenId, new Date(at)],
      ),
    /** Returns the lines of the digests that are waiting to be sent, and deletes them. */
    async takeDigests(): Promise<{ userId: string; page: string; tokens: DigestLine[] }[]> {
      const { rows } = await db.query<{ user_id: string; page: string; tokens: string }>(
        `delete from outgoing_mails where kind = 'token_expiring' and user_id in (select id from users where org_id = $1)
         returning user_id, detail->>'page' as page, detail->>'items' as tokens`,
        [orgId],
      );
      return rows.map(({ user_id: userId, page, tokens }) => ({ userId, page, tokens: JSON.parse(tokens) }));
    },
    async findRevoked(): Promise<string[]> {
      const { rows } = await db.query<{ name: string }>(
        `select name from personal_access_tokens
         where org_id = $1 and status = 'revoked' and revoked_reason = 'unused' and revoked_by is null order by name`,
        [orgId],
      );
      return rows.map(({ name }) => name);
    },
  };
}

interface InsertedToken {
  readonly orgId: string;
  readonly ownerId?: string;
  /** The service account that owns it instead. */
  readonly accountId?: string;
  /** In days. */
  readonly createdAgo?: number;
  /** In days; null for never. */
  readonly expiresIn?: number | null;
  /** Assignments of other columns. */
  readonly fields?: string;
  readonly now?: number;
}

/** Stores a token that was created long ago, as the API cannot. */
export async function insertToken(
  { db }: IdentityUnderTest,
  name: string,
  { orgId, ownerId, accountId, createdAgo = 100, expiresIn = null, fields, now = Date.now() }: InsertedToken,
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into personal_access_tokens
       (id, org_id, owner_id, service_account_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
     values (gen_random_uuid(), $1, $2, $3, $4, '{user:read}', gen_random_uuid()::text,
       (select id from signing_keys limit 1), $5, $6) returning id`,
    [
      orgId,
      accountId === undefined ? ownerId : null,
      accountId,
      name,
      new Date(now - createdAgo * DAY_MS),
      expiresIn === null ? null : new Date(now + expiresIn * DAY_MS),
    ],
  );
  const id = rows[0]?.id ?? '';
  if (fields) await db.query(`update personal_access_tokens set ${fields} where id = $1`, [id]);
  return id;
}

/** Two replicas whose clocks are set. Both run their jobs at once. */
export function createReplicas(identity: IdentityUnderTest, start = Date.now()) {
  let now = start;
  const replicas = [1, 2].map(() => {
    const deps = {
      pool: identity.db,
      prisma: identity.prisma,
      clock: () => now,
      log: createLogger('identity', 'silent', { write: () => undefined }),
      outbox: createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }])),
    };
    return [createUnusedJob(deps), createNoticesJob(deps)] as const;
  });
  return {
    /** Runs the jobs of both after so many days, twice. */
    async runAfter(days: number): Promise<void> {
      now = start + days * DAY_MS;
      for (let turn = 0; turn < 2; turn += 1) {
        await Promise.all(replicas.map(([unused]) => unused.run()));
        await Promise.all(replicas.map(([, notices]) => notices.run()));
      }
    },
  };
}
