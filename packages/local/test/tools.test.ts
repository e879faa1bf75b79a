import { makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';
import { connectors, type ToolClient } from './tool-client.js';

/* Agents on the official clients, through the gateway, over real services. */

const START_MS = 60_000;
const CRAWL = '/api/v1/crawlingManager';
const PATS = '/api/v1/personal-access-tokens';
const AGENT = [
  'user:read',
  'pat:read',
  'pat:write',
  'crawl:read',
  'crawl:write',
  'crawl:delete',
  'SEND_MAIL',
];

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
let platform: Platform;
let session: string;
const clients: ToolClient[] = [];

interface Answer {
  readonly status: number;
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

const urlOf = (path: string): string => `http://localhost:${platform.port}${path}`;

async function call(method: string, path: string, token = session, body?: unknown): Promise<Answer> {
  const response = await fetch(urlOf(path), {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

async function createToken(scopes: readonly string[], owner = session) {
  const { status, body } = await call('POST', PATS, owner, { name: 'agent', scopes });
  if (status !== 201) throw new Error(`create token answered ${status}`);
  return body.token as { id: string; accessToken: string };
}

async function login(email: string, password: string): Promise<string> {
  return (await call('POST', '/api/v1/auth/login', '', { email, password })).body.accessToken as string;
}

const soon = (inMs: number) => ({
  scheduleType: 'once',
  scheduledTime: new Date(Date.now() + inMs).toISOString(),
});

async function connect(version: string, token: string): Promise<ToolClient> {
  const connector = connectors.find(([name]) => name === version)?.[1];
  if (!connector) throw new Error(version);
  const client = await connector(urlOf('/mcp'), { authorization: `Bearer ${token}` });
  clients.push(client);
  return client;
}

beforeAll(async () => {
  dataDir = await makeDataDir();
  platform = await startPlatform({ dataDir: dataDir.path });
  await platform.settled;
  session = await login(printed(platform, 'Admin'), printed(platform, 'Password'));
}, START_MS);

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  platform.child.kill('SIGTERM');
  await platform.exited;
  await dataDir.remove();
}, START_MS);

describe.each(connectors)('an agent on the %s client', (version) => {
  it(
    'lists its tools, crawls, sends a mail, and loses access the moment its token is revoked',
    async () => {
      const token = await createToken(AGENT);
      const agent = await connect(version, token.accessToken);
      expect(await agent.listNames()).toEqual([
      'whoami', 'list_my_tokens', 'revoke_my_token', 'list_connectors', 'schedule_crawl', 'get_crawl',
      'list_crawls', 'pause_crawl', 'resume_crawl', 'remove_crawl', 'crawl_stats', 'send_email',
    ]); // prettier-ignore
      const { connectors: known } = (await agent.call('list_connectors')).structuredContent;
      const { connector } = known.find(({ kind }: { kind: string }) => kind === 'wiki');
      const scheduledTime = new Date(Date.now() + 1_000).toISOString();
      const scheduled = await agent.call('schedule_crawl', {
        connector,
        scheduleConfig: { scheduleType: 'once', scheduledTime },
      });
      expect(scheduled.structuredContent).toMatchObject({ connector: 'wiki_1' });
      await until(
        async () => (await agent.call('get_crawl', { connector })).structuredContent.state === 'completed',
      );
      expect((await agent.call('list_crawls')).structuredContent.crawls).toMatchObject([
        { connector: 'wiki_1', scheduleType: 'once', state: 'completed', progress: 100 },
      ]);
      expect((await agent.call('crawl_stats')).structuredContent.completed).toBeGreaterThan(0);
      expect((await agent.call('remove_crawl', { connector })).isError).toBeFalsy();
      expect((await call('GET', `${CRAWL}/wiki_1/schedule`)).status).toBe(404);

      const letter = {
        emailTemplateType: 'loginWithOTP',
        sendEmailTo: ['ada@example.com'],
        subject: `from ${version}`,
        templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
        idempotencyKey: `one-${version}`,
      };
      expect((await agent.call('send_email', letter)).structuredContent).toMatchObject({ status: true });
      expect((await agent.call('send_email', letter)).structuredContent).toMatchObject({ status: true });
      const { mails } = (await (await fetch(`http://127.0.0.1:${platform.inboxPort}/api/mails`)).json()) as {
        mails: { subject: string }[];
      };
      expect(mails.filter(({ subject }) => subject === `from ${version}`)).toHaveLength(1);

      await call('DELETE', `${PATS}/${token.id}`);
      await expect(agent.call('whoami')).rejects.toThrow(/401|Unauthorized|invalid/i);
    },
    START_MS,
  );

  it(
    'waits for a run, is told of its progress, and hears how it ended',
    async () => {
      const agent = await connect(version, (await createToken(AGENT)).accessToken);
      const connector = `issues_${version === 'v1' ? 1 : 2}`;
      const told: { progress: number; total?: number }[] = [];
      const result = await agent.call(
        'schedule_crawl',
        { connector, scheduleConfig: soon(2_000), wait: true },
        { onprogress: (progress) => told.push(progress) },
      );
      expect(result.structuredContent).toMatchObject({
        connector,
        run: { connector, outcome: 'completed', progress: 100 },
      });
      expect(told.length).toBeGreaterThan(1);
      expect(told.at(-1)).toMatchObject({ progress: 100, total: 100 });
      const steps = told.map(({ progress }) => progress);
      expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
      await call('DELETE', `${CRAWL}/${connector}/schedule`);
      const writer = await connect(version, (await createToken(['crawl:write'])).accessToken);
      const refused = await writer.call('schedule_crawl', {
        connector: 'mail_2',
        scheduleConfig: soon(1_000),
        wait: true,
      });
      expect(refused).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('crawl:read') }],
      });
      expect((await call('GET', `${CRAWL}/mail_2/schedule`)).status).toBe(404);
    },
    START_MS,
  );

  it(
    'stops waiting when its client goes away, and when its token is revoked',
    async () => {
      const [gone, revoked] = [await createToken(AGENT), await createToken(AGENT)];
      const config = { connector: 'mail_1', scheduleConfig: soon(3_600_000), wait: true };
      const waitWith = async ({ accessToken }: { accessToken: string }) => {
        const agent = await connect(version, accessToken);
        let isWaiting = (): void => undefined;
        const waiting = new Promise<void>((resolve) => {
          isWaiting = resolve;
        });
        const answer = agent.call('schedule_crawl', config, { onprogress: isWaiting });
        answer.catch(() => undefined);
        await waiting;
        return { agent, answer };
      };
      const outcomesOf = async ({ id }: { id: string }) =>
        (await call('GET', `${PATS}/${id}/activity`)).body.data.map(
          ({ outcome }: { outcome: string }) => outcome,
        );
      const first = await waitWith(gone);
      await first.agent.close();
      await expect(first.answer).rejects.toThrow(/.+/);
      await until(async () => (await outcomesOf(gone)).includes('cancelled'));
      const second = await waitWith(revoked);
      await call('DELETE', `${PATS}/${revoked.id}`);
      expect(await second.answer).toMatchObject({ isError: true });
      await until(async () => (await outcomesOf(revoked)).includes('refused'));
      await call('DELETE', `${CRAWL}/mail_1/schedule`);
    },
    START_MS,
  );

  it('pauses and resumes; a refusal of the service is told in its words', async () => {
    const agent = await connect(version, (await createToken(AGENT)).accessToken);
    const connector = 'files_2';
    const missing = await agent.call('get_crawl', { connector });
    expect(missing).toMatchObject({
      isError: true,
      content: [{ text: 'No scheduled job found for this connector' }],
    });
    await agent.call('schedule_crawl', {
      connector: 'Files_2',
      scheduleConfig: { scheduleType: 'hourly', minute: 1 },
    });
    expect((await agent.call('pause_crawl', { connector })).structuredContent).toMatchObject({ connector });
    expect(await agent.call('pause_crawl', { connector })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Job is already paused') }],
    });
    expect((await agent.call('get_crawl', { connector })).structuredContent.state).toBe('paused');
    expect((await agent.call('resume_crawl', { connector })).structuredContent).toHaveProperty('resumedAt');
    await agent.call('remove_crawl', { connector });
  });
});

it(
  'what is shown is what the REST endpoint allows, for every scope and role',
  async () => {
    const email = 'member@example.com';
    const password = 'correct-Horse-battery-9';
    await call('POST', '/api/v1/users', session, { email, password, fullName: 'Ada Member' });
    const member = await login(email, password);
    const probes: Readonly<Record<string, readonly [method: string, path: string]>> = {
      whoami: ['GET', '/api/v1/users/me'],
      list_my_tokens: ['GET', PATS],
      revoke_my_token: ['DELETE', `${PATS}/01900000-0000-7000-8000-000000000000`],
      list_connectors: ['GET', `${CRAWL}/connectors`],
      schedule_crawl: ['POST', `${CRAWL}/db_1/schedule`],
      get_crawl: ['GET', `${CRAWL}/db_1/schedule`],
      list_crawls: ['GET', `${CRAWL}/schedule/all`],
      pause_crawl: ['POST', `${CRAWL}/db_1/pause`],
      resume_crawl: ['POST', `${CRAWL}/db_1/resume`],
      remove_crawl: ['DELETE', `${CRAWL}/db_1/schedule`],
      crawl_stats: ['GET', `${CRAWL}/stats`],
      send_email: ['POST', '/api/v1/mail/emails/sendEmail'],
    };
    const credentials = [session, member];
    for (const scope of AGENT) credentials.push((await createToken([scope])).accessToken);
    for (const scope of AGENT.filter((name) => name !== 'SEND_MAIL'))
      credentials.push((await createToken([scope], member)).accessToken);
    for (const credential of credentials) {
      const shown = await (await connect('v1', credential)).listNames();
      const allowed: string[] = [];
      for (const [name, [method, path]] of Object.entries(probes))
        if ((await call(method, path, credential)).status !== 403) allowed.push(name);
      expect(shown).toEqual(allowed);
    }
  },
  START_MS,
);

const schedule = (scheduleConfig: unknown, more: object = {}) => ({
  connector: 'db_1',
  scheduleConfig,
  ...more,
});
const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['a@example.com'],
  subject: 's',
  templateData: { otp: '1' },
};

it.each<[tool: string, args: Record<string, unknown>, fault: RegExp]>([
  ['list_connectors', { verbose: true }, /verbose/],
  ['list_crawls', { cursor: 'x' }, /cursor/],
  ['crawl_stats', { connector: 'db_1' }, /connector/],
  ['get_crawl', {}, /connector is required/],
  ['get_crawl', { connector: 7 }, /connector/],
  ['get_crawl', { connector: '' }, /connector/],
  ['get_crawl', { connector: 'nothing_1' }, /Unknown connector/],
  ['get_crawl', { connector: 'x'.repeat(10_000) }, /connector/],
  ['pause_crawl', { connector: '..' }, /connector/],
  ['pause_crawl', { connector: '../stats?' }, /Unknown connector/],
  ['pause_crawl', { connector: 'db_1', reason: 'x' }, /reason/],
  ['resume_crawl', { connector: null }, /connector/],
  ['remove_crawl', { connector: ['db_1'] }, /connector/],
  ['remove_crawl', { connector: 'schedule/all' }, /Unknown connector/],
  ['schedule_crawl', {}, /connector is required/],
  ['schedule_crawl', { connector: 'db_1' }, /scheduleConfig/],
  ['schedule_crawl', schedule('daily'), /scheduleConfig/],
  ['schedule_crawl', schedule({ scheduleType: 'daily', hour: 24, minute: 0 }), /hour/],
  ['schedule_crawl', schedule({ scheduleType: 'yearly' }), /scheduleType/],
  ['schedule_crawl', schedule({ scheduleType: 'once', scheduledTime: '2020-01-01T00:00:00Z' }), /future/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { timeout: '5' }), /timeout/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { wait_for: 1 }), /wait_for/],
  ['schedule_crawl', schedule({ scheduleType: 'hourly', minute: 1 }, { metadata: JSON.parse('['.repeat(40) + ']'.repeat(40)) as unknown }), /metadata/],
  ['send_email', {}, /emailTemplateType/],
  ['send_email', { ...letter, emailTemplateType: 'other' }, /Unknown Template/],
  ['send_email', { ...letter, sendEmailTo: 'a@example.com' }, /sendEmailTo/],
  ['send_email', { ...letter, subject: 'a\nBcc: b@example.com' }, /subject/],
  ['send_email', { ...letter, bcc: ['b@example.com'] }, /bcc/],
  ['send_email', { ...letter, idempotencyKey: 'a\nb' }, /idempotencyKey/],
])('%s says what is wrong with its arguments, and nothing is changed (%#)', async (tool, args, fault) => {
  const agent = await connect('v1', (await createToken(AGENT)).accessToken);
  const before = await stored();
  const result = await agent.call(tool, args);
  expect([result.isError, result.content[0]?.text]).toEqual([true, expect.stringMatching(fault)]);
  expect(result).not.toHaveProperty('structuredContent');
  expect(await stored()).toEqual(before);
}); // prettier-ignore

async function stored() {
  const mailer = mailToken ?? (mailToken = (await createToken(['SEND_MAIL'])).accessToken);
  const [crawls, records] = [await call('GET', `${CRAWL}/schedule/all`), await call('GET', '/api/v1/mail/records', mailer)];
  return [crawls.body.data, records.body.pagination.total];
} // prettier-ignore
let mailToken: string | undefined;
