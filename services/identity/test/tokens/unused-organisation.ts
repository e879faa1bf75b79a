import { createLogger, createSecretBox, DAY_MS } from '@platform/service-kit';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { createNoticesJob } from '../../src/tokens/watch/notices/notices.job.js';
import { createUnusedJob } from '../../src/tokens/watch/unused/unused.job.js';
import type { IdentityUnderTest } from '../identity.js';
import { noPolicy, policyPath } from '../token-policy.js';

let count = 0;

/** An organisation of its own for each test, whose tokens and mails the test reads. */
export async function createOrganisation(identity: IdentityUnderTest) {
  const { orgId, session } = await identity.createOrganisation(`unused-${++count}@example.com`);
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
    /** Stores a token that was created long ago, as the API cannot. */
    async insertToken(
      name: string,
      { ownerId = adminId, createdAgo = 100, accountId = '' } = {},
    ): Promise<string> {
      const { rows } = await db.query<{ id: string }>(
        `insert into personal_access_tokens
           (id, org_id, owner_id, service_account_id, name, scopes, token_hash, signing_key_id, created_at)
         values (gen_random_uuid(), $1, $2, $3, $4, '{user:read}', gen_random_uuid()::text,
           (select id from signing_keys limit 1), $5) returning id`,
        [
          orgId,
          accountId ? null : ownerId,
          accountId || null,
          name,
          new Date(Date.now() - createdAgo * DAY_MS),
        ],
      );
      return rows[0]?.id ?? '';
    },
    use: (tokenId: string, at: number) =>
      db.query(
        `insert into token_last_used (token_id, last_used_at) values ($1, $2)
         on conflict (token_id) do update set last_used_at = excluded.last_used_at`,
        [tokenId, new Date(at)],
      ),
    /** Returns the lines of the digests that are waiting to be sent, and deletes them. */
    async takeDigests(): Promise<{ userId: string; tokens: Record<string, string>[] }[]> {
      const { rows } = await db.query<{ user_id: string; tokens: string }>(
        `delete from outgoing_mails where kind = 'token_expiring' and user_id in (select id from users where org_id = $1)
         returning user_id, detail->>'items' as tokens`,
        [orgId],
      );
      return rows.map(({ user_id: userId, tokens }) => ({ userId, tokens: JSON.parse(tokens) }));
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

/** Two replicas whose clocks are set. Both run their jobs at once. */
export function createReplicas(identity: IdentityUnderTest) {
  let now = Date.now();
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
      now = Date.now() + days * DAY_MS;
      for (let turn = 0; turn < 2; turn += 1) {
        await Promise.all(replicas.map(([unused]) => unused.run()));
        await Promise.all(replicas.map(([, notices]) => notices.run()));
      }
    },
  };
}
