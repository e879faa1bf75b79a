import { createLogger, createSecretBox, DAY_MS } from '@platform/service-kit';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { createNoticesJob } from '../../src/tokens/watch/notices/notices.job.js';
import { mailClientSecret } from '../sign-in/account-flows/mail-service.js';
import type { Platform } from '../sign-in/account-flows/platform.js';
import { encryptionKeys, serviceClient } from '../identity.js';
import { type Process, startServer } from '../process/process.js';

/** Stores a token that was created long ago, as the API cannot. @param expiresIn - in days; null for never. */
export async function insertToken(
  platform: Platform,
  name: string,
  expiresIn: number | null,
  {
    ownerId,
    createdAgo = 100,
    fields = '',
    now = Date.now(),
  }: {
    ownerId: string;
    createdAgo?: number;
    fields?: string;
    now?: number;
  },
): Promise<string> {
  const { rows } = await platform.identity.db.query<{ id: string }>(
    `insert into personal_access_tokens
       (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, '{user:read}', gen_random_uuid()::text,
       (select id from signing_keys limit 1), $3, $4 from users where id = $1 returning id`,
    [
      ownerId,
      name,
      new Date(now - createdAgo * DAY_MS),
      expiresIn === null ? null : new Date(now + expiresIn * DAY_MS),
    ],
  );
  const id = rows[0]?.id ?? '';
  if (fields)
    await platform.identity.db.query(`update personal_access_tokens set ${fields} where id = $1`, [id]);
  return id;
}

/** Stores the same for a new service account. */
export async function insertAccountToken(
  platform: Platform,
  name: string,
  expiresIn: number | null,
  accountName = 'deployer',
): Promise<string> {
  const created = await platform.identity.call('POST', '/api/v1/service-accounts', {
    token: platform.session,
    body: { name: accountName, role: 'member' },
  });
  expect(created.status).toBe(201);
  const { rows } = await platform.identity.db.query<{ id: string }>(
    `insert into personal_access_tokens
       (id, org_id, service_account_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, '{crawl:read}', gen_random_uuid()::text,
       (select id from signing_keys limit 1), now() - interval '100 days', now() + make_interval(days => $3)
     from service_accounts where id = $1 returning id`,
    [created.body.serviceAccount.id, name, expiresIn],
  );
  return rows[0]?.id ?? '';
}

/** The job of a replica whose clock is set. Its mails stay in the outbox of a database without a sender. */
export function createReplica(platform: Platform, now: () => number) {
  const pool = platform.identity.db;
  const log = createLogger('identity', 'silent', { write: () => undefined });
  const outbox = createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
  return createNoticesJob({ pool, outbox, clock: now, log });
}

export const readDigests = (platform: Platform, email: string): string[] =>
  platform
    .mailsTo(email)
    .filter(({ text = '' }) => text.includes('Requests with these access tokens'))
    .map(({ subject }) => subject ?? '');

/** Starts another replica, as a process that can be killed. */
export const startReplica = (platform: Platform): Promise<Process> =>
  startServer({
    DATABASE_URL: platform.identity.databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    HOST: '127.0.0.1',
    PORT: '0',
    MAIL_URL: platform.mail.url,
    SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret},mail:${mailClientSecret}`,
  });

export async function killReplica({ child, exit }: Process): Promise<void> {
  child.kill('SIGKILL');
  await exit;
}
