import { DAY_MS } from '@platform/service-kit';
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
