import { randomInt } from 'node:crypto';
import { toDigest } from '@platform/auth';
import { type App, createLogger, createShutdown, systemClock } from '@platform/service-kit';
import { type Act as ActIn, startActing, waitFor } from '@platform/testing';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { buildIdentity } from '../../src/app.js';
import { createPasswords } from '../../src/base/passwords.js';
import { loadIdentityConfig } from '../../src/config.js';
import { PrismaClient } from '../../src/generated/prisma/client.js';
import { extendBySql } from '../../src/prisma.js';
import { admin, encryptionKeys } from '../identity.js';
import { createSubscriber, startEventReceiver } from '../mcp/events/agent.js';
import { startWithApplication } from '../oauth/connected-application.js';
import { consent, createAuthorization, createBrowser, exchangeCode } from '../oauth/flow.js';

/*
 * An organisation in which people act at the same time, each at a replica of its own. The replicas start no background jobs,
 * and the explorer steps their statements. Before each interleaving, the database is what it was.
 */

/** The role of processes that look for no work by themselves. No mail service listens: mails are stored and stay. */
const environment = { ROLE: 'mcp', MAIL_URL: 'http://127.0.0.1:1', DESTINATION_ALLOWED_TARGETS: '127.0.0.1' };

/** A request as a client sends it. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly body?: object;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The replica of an actor. */
export interface Replica {
  readonly app: App;
  readonly pool: pg.Pool;
  readonly close: () => Promise<void>;
}

/** What the token follows. */
export const SUBSCRIBED_EVENT = 'my_token.revoked';

/** The name of the token that is created with an Idempotency-Key. */
export const CREATED_BY_KEY = 'by key';

/** The code of an act that the other one has made impossible. */
const REFUSED = 'REFUSED';

/** Sends a request. @throws Error for any status but 2xx, with the code REFUSED when it is the client's fault. */
export async function send(
  { app }: Replica,
  { method, path, token, body, form, headers }: Request,
): Promise<unknown> {
  const payload = form ? new URLSearchParams(form).toString() : body && JSON.stringify(body);
  const { statusCode, payload: text } = await app.inject({
    method,
    url: path,
    // Attempts are counted by address.
    remoteAddress: `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(payload !== undefined && {
        'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json',
      }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  if (statusCode < 300 && !text.includes('"jsonrpc":"2.0","id":1,"error"')) return text;
  throw Object.assign(new Error(`${statusCode} ${text}`), {
    code: statusCode < 500 && statusCode !== 429 ? REFUSED : String(statusCode),
  });
}

/** Builds a replica that does not listen. */
async function buildReplica(databaseUrl: string, pool: pg.Pool): Promise<Replica> {
  const log = createLogger('identity', 'silent');
  const shutdown = createShutdown(log);
  const prisma = extendBySql(
    new PrismaClient({
      adapter: new PrismaPg(pool),
      errorFormat: 'minimal',
      // An actor waits for its turns in the middle of a transaction.
      transactionOptions: { maxWait: 60_000, timeout: 60_000 },
    }),
  );
  const { app } = await buildIdentity({
    config: loadIdentityConfig({
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEYS: encryptionKeys,
      ...environment,
    }),
    resources: { pool, livenessPool: pool, deliveryPool: pool, prisma, log },
    shutdown,
    clock: systemClock,
    passwords: createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 }),
  });
  shutdown.on('http', 'app', () => app.close());
  await app.ready();
  return { app, pool, close: () => shutdown.run('test done') };
}

/** Makes the organisation: two administrators, a member with tokens, an agent and a group, and somebody who is invited. */
async function createWorld() {
  const { identity, session: ada, clientId, close } = await startWithApplication(environment);
  const call = async (method: string, path: string, options: Parameters<typeof identity.call>[2]) => {
    const answer = await identity.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };
  // Nothing is sent in the background: mails are never due.
  await identity.db.query(`
    create function hold_mail() returns trigger language plpgsql as $$ begin
      new.next_attempt_at = now() + interval '1 year'; return new;
    end $$;
    create trigger hold_mail before insert or update on outgoing_mails for each row execute function hold_mail()`);
  const me = await call('GET', '/api/v1/users/me', { token: ada });
  const bert = await identity.createMember(ada, 'admin');
  const cem = await identity.createMember(ada);
  const invitation = { email: 'ida@example.com', fullName: 'Ida' };
  const ida = (await call('POST', '/api/v1/users', { token: ada, body: invitation })).user as { id: string };
  const links = { invitation: 'link-of-the-invitation', reset: 'link-of-the-reset' };
  for (const [purpose, token, { id, email }] of [
    ['invitation', links.invitation, { id: ida.id, email: invitation.email }],
    ['password_reset', links.reset, cem],
  ] as const)
    await identity.db.query(
      `insert into one_time_secrets (purpose, subject, user_id, secret_hash, created_at, expires_at, tries_left)
       values ($1, $2, $3, $4, now(), now() + interval '1 day', 1)`,
      [purpose, toDigest(email), id, toDigest(token)],
    );
  const scopes = ['pat:write', 'pat:read', 'user:read'];
  const token = await identity.createToken(cem.session, { scopes });
  const child = await identity.createToken(token.accessToken, { scopes });
  const group = (await call('POST', '/api/v1/groups', { token: ada, body: { name: 'Readers' } })).group as {
    id: string;
  };
  await call('PUT', `/api/v1/groups/${group.id}/members/${cem.id}`, { token: ada });
  const account = (await call('POST', '/api/v1/service-accounts', { token: ada, body: { name: 'Robot' } }))
    .serviceAccount as { id: string };
  const ofAccount = { name: 'robot', scopes: ['user:read'] };
  await call('POST', `/api/v1/service-accounts/${account.id}/tokens`, { token: ada, body: ofAccount });
  // The first use of a token is an entry of the audit, which is written later.
  await call('GET', '/api/v1/users/me', { token: child.accessToken });
  await waitFor(async () => (await identity.db.query('select from token_last_used')).rowCount === 2, {
    what: 'the uses of both tokens to be written',
  });
  const browser = createBrowser(identity);
  await browser.signIn(cem);
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const connected = (await exchangeCode(identity, authorization, code)).body as { refresh_token: string };
  const { rows } = await identity.db.query<{ id: string }>('select id from oauth_grants');
  const receiver = await startEventReceiver();
  await createSubscriber(identity, token.accessToken).follow(SUBSCRIBED_EVENT, receiver.url);
  return {
    identity,
    close: async () => {
      await receiver.close();
      await close();
    },
    clientId,
    ada: { id: me.user.id as string, session: ada, password: admin.password },
    bert,
    cem,
    ida,
    links,
    token,
    child,
    group,
    account,
    grant: { id: rows[0]?.id ?? '', refreshToken: connected.refresh_token },
    receiverUrl: receiver.url,
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export type Act = ActIn<Replica, World>;

/** What holds at any time, as queries that find nothing. */
const invariants = {
  'no administrator is left': `
    select from organisations o where not exists (
      select from users where org_id = o.id and role = 'admin' and removed_at is null and password_hash is not null)`,
  'a counter is not that of its rows': `
    select from organisation_counters c where (active_tokens, members, audit_entries) <> (
      (select count(*) from personal_access_tokens t where t.org_id = c.org_id and status = 'active'),
      (select count(*) from users u where u.org_id = c.org_id and removed_at is null),
      (select count(*) from audit_entries a where a.org_id = c.org_id))`,
  'a token is active whose creator has ended': `
    select from personal_access_tokens child join personal_access_tokens parent on parent.id = child.parent_id
    where child.status = 'active' and parent.status <> 'active'`,
  'one key has created two tokens': `
    select from personal_access_tokens where name = '${CREATED_BY_KEY}' having count(*) > 1`,
  'an entry of the audit is no fact': `
    select from audit_entries entry where not exists (select from outbox.events where event_id = entry.id)`,
};

/** Starts the organisation for the explorations of a file. */
export async function startIdentityActs() {
  const world = await createWorld();
  const { db, databaseUrl } = world.identity;
  const acting = await startActing<Replica, World>({
    databaseUrl,
    db,
    world,
    connect: (pool) => buildReplica(databaseUrl, pool),
    disconnect: ({ close }) => close(),
    invariants,
    mayFail: [REFUSED],
    share: 0.05,
  });
  return {
    explore: acting.explore,
    async close(): Promise<void> {
      await acting.close();
      await world.close();
    },
  };
}
