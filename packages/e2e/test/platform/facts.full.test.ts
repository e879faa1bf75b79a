import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@platform/embedded';
import {
  callUrl,
  type OwnPostgres,
  startOwnPostgres,
  waitFor,
  withAdmin,
  ENCRYPTION_KEYS,
} from '@platform/testing';
import { Pool } from 'pg';
import { type SmtpServer, startSmtpServer } from './smtp-server.js';
import { type Replica, startReplica } from './replica.js';

/*
 * AUD-7: identity, mail and crawl are killed at random moments, PostgreSQL restarts, and the destinations are unavailable
 * for a while. What the databases say has happened is what the destinations have got, once each after repeats are dropped.
 */

const SECONDS = Number(process.env['FACTS_SECONDS'] || 8);
const ADMIN = { email: 'admin@example.com', password: 'a-good-password' };
const SECRET = 's'.repeat(40);
const CRAWL = '/api/v1/crawlingManager';
const CONNECTORS = ['wiki_1', 'files_1', 'chat_1'];
const names = ['identity', 'mail', 'crawl'] as const;
type Name = (typeof names)[number];

interface Fact {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, string | null>>;
}

let postgres: OwnPostgres;
let smtp: SmtpServer;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const replicas = new Map<Name, Replica>();
const pools = new Map<Name, Pool>();
let session = '';
let mailToken = '';

/** Starts a receiver of both forms, which can be unavailable. */
async function startReceiver() {
  const got = { '/webhook': [] as Fact[], '/logs': [] as Fact[] };
  const state = { isAway: false };
  const server = createServer((request, response) => {
    if (state.isAway) {
      request.socket.destroy();
      return;
    }
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const body = JSON.parse(text);
      if (request.url === '/webhook') got['/webhook'].push(body as Fact);
      else {
        const [{ scopeLogs }] = body.resourceLogs;
        const records = scopeLogs[0].logRecords as { body: { stringValue: string } }[];
        got['/logs'].push(...records.map((record) => JSON.parse(record.body.stringValue) as Fact));
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { got, state, url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** The service may be down at the moment: what the database says counts, not the answer. */
const call = (name: Name, method: string, path: string, body?: object) =>
  callUrl((replicas.get(name)?.url ?? '') + path, method, {
    token: name === 'mail' ? mailToken : session,
    ...(body && { body }),
  });
const attempt = (...given: Parameters<typeof call>) => call(...given).catch(() => undefined);

const query = async <Row extends object>(name: Name, text: string): Promise<Row[]> =>
  (await (pools.get(name) as Pool).query<Row>(text)).rows;

beforeAll(async () => {
  [postgres, receiver] = await Promise.all([startOwnPostgres({ max_connections: '200' }), startReceiver()]);
  smtp = await startSmtpServer(await findFreePort());
  await withAdmin(postgres.url(), async (admin) => {
    for (const name of names) await admin.query(`create database ${name}`);
  });
  const ports = { identity: await findFreePort(), mail: await findFreePort(), crawl: await findFreePort() };
  const toUrl = (name: Name) => `http://127.0.0.1:${ports[name]}`;
  const client = {
    IDENTITY_URL: toUrl('identity'),
    IDENTITY_TIMEOUT_MS: '5000',
    SERVICE_CLIENT_SECRET: SECRET,
    ENCRYPTION_KEYS,
  };
  const environments: Record<Name, NodeJS.ProcessEnv> = {
    identity: {
      ENCRYPTION_KEYS,
      SERVICE_CLIENTS: `mail:${SECRET},crawl:${SECRET}`,
      MAIL_URL: toUrl('mail'),
      CRAWL_URL: toUrl('crawl'),
      DESTINATION_ALLOWED_TARGETS: '127.0.0.1',
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    mail: { ...client, SMTP_ALLOWED_TARGETS: `127.0.0.1:${smtp.port}` },
    // A lease lasts for 5 s.
    crawl: { ...client, STALLED_INTERVAL_MS: '1000', OVERDUE_GRACE_MS: '1000', RETRY_DELAY_MS: '100' },
  };
  for (const name of names) {
    const env = {
      DATABASE_URL: postgres.url(name),
      PUBLIC_URL: toUrl('identity'),
      ...environments[name],
    };
    replicas.set(name, await startReplica(name, ports[name], env));
    const pool = new Pool({ connectionString: postgres.url(name), max: 1 });
    // The restart closes its connection.
    pool.on('error', () => undefined);
    pools.set(name, pool);
  }
  session = (await call('identity', 'POST', '/api/v1/auth/login', ADMIN)).body.accessToken as string;
  const server = { host: '127.0.0.1', port: smtp.port, fromEmail: 'facts@example.com', tls: 'none' };
  await call('identity', 'POST', '/api/v1/configurationManager/smtpConfig', server);
  const mailer = { name: 'mailer', scopes: ['SEND_MAIL'] };
  const { body } = await call('identity', 'POST', '/api/v1/personal-access-tokens', mailer);
  mailToken = body.token.accessToken as string;
  const monthly = { scheduleConfig: { scheduleType: 'monthly', dayOfMonth: 1, hour: 0, minute: 0 } };
  for (const connector of CONNECTORS) await call('crawl', 'POST', `${CRAWL}/${connector}/schedule`, monthly);
});

afterAll(async () => {
  await Promise.all([...replicas.values()].map((replica) => replica.kill()));
  await Promise.all([...pools.values()].map((pool) => pool.end()));
  await smtp.goAway();
  receiver.close();
  await postgres.close();
});

/** Returns what happened, as the databases have it, each under the key that {@link toKey} gives its fact. */
async function listCaused(): Promise<string[]> {
  const entries = await query<{ key: string }>(
    'identity',
    `select 'entry ' || id as key from audit_entries where action <> 'crawl_run.requested'`,
  );
  const runs = await query<{ key: string }>(
    'crawl',
    `select 'crawl.run.' || state || ' ' || id as key from runs where state in ('completed', 'failed', 'aborted')
     union all select 'requested ' || id from runs where trigger = 'manual'`,
  );
  const mails = await query<{ key: string }>(
    'mail',
    `select 'mail.' || state || ' ' || id as key from mails where state in ('sent', 'failed', 'unknown')`,
  );
  return [...entries, ...runs, ...mails].map(({ key }) => key);
}

function toKey({ type, data }: Fact): string {
  if (data['action'] === 'crawl_run.requested') return `requested ${data['subjectId']}`;
  return 'action' in data ? `entry ${data['id']}` : `${type} ${data['runId'] ?? data['mailId']}`;
}

test(
  'AUD-7 no fact is lost while every process is killed, PostgreSQL restarts and the destinations are unavailable',
  async () => {
    const destinations = '/api/v1/events/destinations';
    const ids: string[] = [];
    for (const [form, path] of [['webhook', '/webhook'], ['logs', '/logs']] as const) {
      const { body } = await call('identity', 'POST', destinations, { form, url: receiver.url + path });
      ids.push(body.destination.id as string);
    }
    const before = new Set(await listCaused());

    const over = new AbortController();
    const repeat = async (pauseMs: number, act: () => Promise<unknown>) => {
      while (!over.signal.aborted) {
        await act();
        await delay(pauseMs);
      }
    };
    const mail = {
      emailTemplateType: 'loginWithOTP',
      sendEmailTo: ['ada@example.com'],
      subject: 'A code',
      templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
    };
    const work = [
      repeat(50, () => attempt('identity', 'POST', '/api/v1/personal-access-tokens', { name: randomUUID(), scopes: ['user:read'] })),
      repeat(200, () => attempt('mail', 'POST', '/api/v1/mail/emails/sendEmail', mail)),
      ...CONNECTORS.map((connector) => repeat(300, () => attempt('crawl', 'POST', `${CRAWL}/${connector}/run`, {}))),
    ];
    const endsAt = performance.now() + SECONDS * 1_000;
    let kills = 0;
    for (; performance.now() < endsAt || kills < 2 * names.length; kills += 1) {
      await delay(Math.random() * 1_000);
      const name = names[kills % names.length] as Name;
      const replica = replicas.get(name) as Replica;
      receiver.state.isAway = kills === 1;
      await replica.kill();
      if (kills === names.length) {
        await postgres.stop();
        await postgres.start();
      }
      await replica.start();
    }
    over.abort();
    await Promise.all(work);
    // What waits for another attempt is sent now, as when an administrator has repaired the receiver.
    for (const id of ids) await call('identity', 'PATCH', `${destinations}/${id}`, { isEnabled: true });

    const isIdle = async () => {
      const [runs] = await query<{ n: number }>('crawl', `select count(*)::int as n from runs where state in ('waiting', 'active', 'retrying')`);
      const [mails] = await query<{ n: number }>('mail', `select count(*)::int as n from mails where state in ('queued', 'sending')`);
      return runs?.n === 0 && mails?.n === 0;
    };
    await waitFor(isIdle, { what: 'the end of all runs and mails', patienceMs: 60_000, intervalMs: 200 });
    const caused = (await listCaused()).filter((key) => !before.has(key));
    const findMissing = () =>
      Object.entries(receiver.got).flatMap(([path, facts]) => {
        const keys = new Set(facts.map(toKey));
        return caused.filter((key) => !keys.has(key)).map((key) => `${path} ${key}`);
      });
    await waitFor(() => findMissing().length === 0, { what: 'all facts', patienceMs: 60_000, intervalMs: 200 }).catch(() => undefined);
    expect(findMissing()).toEqual([]);
    // Besides, each has one id, however often it was delivered; the logs are in the order of the feed.
    for (const facts of Object.values(receiver.got)) {
      const first = [...new Map(facts.map((fact) => [fact.id, fact])).values()];
      expect(new Set(first.map(toKey)).size).toBe(first.length);
    }
    const feed = await query<{ id: string }>('identity', 'select event_id as id from outbox.events order by position');
    const logged = [...new Set(receiver.got['/logs'].map(({ id }) => id))];
    const wanted = new Set(logged);
    expect(logged).toEqual(feed.map(({ id }) => id).filter((id) => wanted.has(id)));
    const counts = ['entry', 'requested', 'crawl.run.', 'mail.'].map((prefix) => caused.filter((key) => key.startsWith(prefix)).length);
    process.stdout.write(
      `${caused.length} facts (${counts.join(', ')} entries, requested runs, runs and mails), ${kills} kills: ` +
        `${receiver.got['/webhook'].length} requests, ${receiver.got['/logs'].length} records, lost 0\n`,
    );
    expect(Math.min(...counts)).toBeGreaterThan(10);
  },
  240_000,
); // oxfmt-ignore
