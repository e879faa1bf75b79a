import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { callUrl, describeWith, waitFor, withAdmin, ENCRYPTION_KEYS } from '@platform/testing';
import { root } from '../deploy/chart.js';
import { postForm, refresh } from '../platform/connect-agent.js';
import {
  ADMIN,
  createDatabases,
  forEachService,
  migrateDatabase,
  type Platform,
  SERVICE_NAMES,
  startPlatform,
} from '../platform/platform.js';
import { type SmtpServer, startSmtpServer } from '../platform/smtp-server.js';
import { succeed } from '../platform/succeed.js';
import { CRAWL, generateCode, type Known, runScenario, sendMail } from './scenario.js';
import { countRows, type PlatformState, readState, restoreState } from './state.js';

/*
 * Recorded states are upgraded: the current migrations are applied, the current services start, and everything goes on.
 * Queues are rebuilt from rows, and not recorded. The state of this version is recorded now, those of releases are in
 * `states`: at each release, `RECORD_STATE=<version> npm test -- --all e2e/test/upgrade` writes one.
 */

interface Recording {
  readonly state: PlatformState;
  readonly known: Known;
}

const FOLDER = join(import.meta.dirname, 'states');
const CURRENT = 'this version';
const recordedVersion = process.env['RECORD_STATE'];
const env = {
  RETRY_DELAY_MS: '100',
  SMTP_ALLOWED_TARGETS: '127.0.0.0/8',
  // Old rows are deleted by the times in their ids, which are those of the recording.
  RECORDS_KEPT_DAYS: '0',
  AUDIT_DAYS: '36500',
};

/** Lists the paths of the API that can be read without an id. */
const listReadPaths = (): string[] =>
  SERVICE_NAMES.flatMap((name) => {
    const document = readFileSync(join(root, 'services', name, 'openapi.json'), 'utf8');
    const { paths } = JSON.parse(document) as { paths: Record<string, object> };
    const found = Object.entries(paths).filter(
      ([path, operations]) => /^\/api[^{]*$/.test(path) && 'get' in operations,
    );
    return found.map(([path]) => path);
  });

async function record(): Promise<Recording> {
  const smtp = await startSmtpServer(await findFreePort());
  const databases = await createDatabases();
  const platform = await startPlatform({ replicas: 1, env, databases });
  try {
    const known = await runScenario(platform, ADMIN, smtp);
    for (const replica of Object.values(platform.replicas).flat()) await replica.stop();
    return { known, state: await readState(databases) };
  } finally {
    await platform.close();
  }
}

const readRecording = (file: string): Recording =>
  JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Recording;
const versions = [CURRENT, ...(existsSync(FOLDER) ? readdirSync(FOLDER) : [])];

describeWith('nginx', 'an upgrade', () => {
  describeWith('own-redis', 'of a platform with data', () => {
    describe.each(versions)('%s', (version) => {
      let state: PlatformState;
      let known: Known;
      let migratedRows: Record<string, Record<string, number>>;
      let smtp: SmtpServer;
      let platform: Platform;

      beforeAll(async () => {
        const recording = version === CURRENT ? await record() : readRecording(version);
        if (version === CURRENT && recordedVersion !== undefined) {
          mkdirSync(FOLDER, { recursive: true });
          writeFileSync(join(FOLDER, `${recordedVersion}.json`), `${JSON.stringify(recording)}\n`);
        }
        ({ state, known } = recording);
        smtp = await startSmtpServer(await findFreePort());
        const databases = await restoreState(state);
        // The SMTP server has another port than when the state was recorded.
        await withAdmin(databases.identity.url, (client) =>
          client.query('update smtp_configurations set port = $1', [smtp.port]),
        );
        for (const name of SERVICE_NAMES) await migrateDatabase(name, databases[name].url);
        migratedRows = await forEachService((name) => countRows(databases[name].url, state.databases[name]));
        // Tokens and connections are issued for the public URL.
        platform = await startPlatform({ replicas: 1, env: { ...env, PUBLIC_URL: known.url }, databases });
      });
      afterAll(async () => {
        await platform?.close();
        await smtp?.goAway();
      });

      const act = async (method: string, path: string, body?: object, token = known.token) =>
        (await succeed(platform.url + path, method, { token, body })).body;
      const getOwnStatus = async (token: string): Promise<number> =>
        (await callUrl(`${platform.url}/api/v1/users/me`, 'GET', { token })).status;

      test('keeps every row', () => {
        const counts = SERVICE_NAMES.map((name) => {
          const tables = Object.entries(state.databases[name].tables);
          return [name, Object.fromEntries(tables.map(([table, rows]) => [table, rows.length]))] as const;
        });
        expect(migratedRows).toEqual(Object.fromEntries(counts));
      });

      test('keeps tokens in force and revoked ones refused', async () => {
        const statuses = [known.token, known.accountToken, known.revoked].map(getOwnStatus);
        expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
      });

      test('lets a member sign in with the password and both kinds of second factor', async () => {
        const { email, password, secret, recoveryCode } = known.member;
        // The state may have been recorded just now, when the current code was used.
        for (const code of [generateCode(secret, Date.now() + 30_000), recoveryCode]) {
          const begun = await callUrl(`${platform.url}/api/v1/auth/login`, 'POST', {
            body: { email, password },
          });
          const { challenge } = begun.body.signIn;
          const { accessToken } = await act('POST', '/api/v1/auth/login/second-factor', {
            challenge,
            code,
          });
          expect(await getOwnStatus(accessToken as string)).toBe(200);
        }
      });

      test('lets an agent refresh its access and call tools, and an application get a token', async () => {
        const agent = await refresh(platform.url, known.agent);
        const called = await callUrl(`${platform.url}/mcp`, 'POST', {
          token: agent.accessToken,
          headers: { accept: 'application/json, text/event-stream' },
          body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
        });
        expect([called.status, called.text.includes(ADMIN.email)]).toEqual([200, true]);
        const { clientId, secret } = known.application;
        const authorization = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
        const fields = { grant_type: 'client_credentials' };
        const { body } = await postForm(`${platform.url}/oauth2/token`, fields, { authorization });
        expect(await getOwnStatus(body.access_token as string)).toBe(200);
      });

      test('shows every list', async () => {
        const read = (path: string) => callUrl(platform.url + path, 'GET', { token: platform.session });
        const { body } = await read('/api/v1/mcp-servers');
        expect(body.data).toMatchObject([{ name: 'wiki', credential: { kind: 'secret' } }]);
        const failed: string[] = [];
        for (const path of listReadPaths()) if ((await read(path)).status === 500) failed.push(path);
        expect(failed).toEqual([]);
      });

      test('sends the queued mail once, and keeps the record of the sent mail', async () => {
        const after = await sendMail(platform.url, known.token, 'Sent after');
        const { sent, queued } = known.mails;
        for (const id of [sent, queued, after])
          await waitFor(async () => (await act('GET', `/api/v1/mail/records/${id}`)).data.state === 'sent', {
            what: 'the record of the mail',
          });
        const once = smtp.subjects.filter((subject) => /before$|after$/.test(subject));
        expect(once.toSorted()).toEqual(['Queued before', 'Sent after']);
      });

      test('keeps schedules and past runs, and lets a worker claim the run that waits for it', async () => {
        const schedules = ['wiki_1/instances/sales', 'files_1', 'chat_1'];
        const found = schedules.map((path) => act('GET', `${CRAWL}/${path}/schedule`));
        expect((await Promise.all(found)).map(({ data }) => [data.state, data.displayName])).toEqual([
          ['delayed', 'Wiki of sales'],
          ['paused', null],
          [expect.any(String), null],
        ]);
        const past = await act('GET', `${CRAWL}/wiki_1/instances/sales/runs/${known.runs.completed}`);
        expect(past.data).toMatchObject({ outcome: 'completed', eventId: expect.any(String) });
        const { order, lease } = await act('POST', `${CRAWL}/work/claim`, {
          connectors: ['chat_1'],
          worker: 'after',
          waitMs: 20_000,
        });
        expect(order.runId).toBe(known.runs.waiting);
        await act('POST', `${CRAWL}/work/${order.runId}/finish`, { lease, state: 'completed' });
        await act('POST', `${CRAWL}/wiki_1/instances/sales/run`, {});
        const { data: events } = await waitFor(
          async () => {
            const page = await act('GET', `${CRAWL}/events`);
            return page.data.length >= 3 && page;
          },
          { what: 'the events of the runs' },
        );
        expect(events[0].eventId).toBe(past.data.eventId);
      });

      test('can decrypt every secret with the old key', async () => {
        const [identity] = platform.replicas.identity;
        const next = Buffer.alloc(32, 2).toString('base64');
        await identity?.stop();
        await identity?.start({ ENCRYPTION_KEYS: `k2:${next},${ENCRYPTION_KEYS}` });
        const { code, stdout } = (await identity?.command('re-encrypt')) ?? {};
        expect(code).toBe(0);
        for (const line of ['signing keys: 1', 'MCP server secrets: 1', 'authenticator secrets: 1'])
          expect(stdout).toContain(`${line} re-encrypted`);
      });
    });
  });
});
