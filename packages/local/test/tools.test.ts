import { callUrl, testPlatform, waitFor } from '@platform/testing';
import { connectors, type ToolClient } from './tool-client.js';

/* Agents with the official clients, through the gateway and with real services. */

const CRAWL = '/api/v1/crawlingManager';
const PATS = '/api/v1/personal-access-tokens';
/** The scopes of an agent that may use every tool. */
const AGENT = [
  'user:read',
  'pat:read',
  'pat:write',
  'crawl:read',
  'crawl:write',
  'crawl:delete',
  'SEND_MAIL',
];

const { url, smtpPort, inboxPort, organisation } = await testPlatform();
const { admin } = await organisation();
const { body: login } = await callUrl(`${url}/api/v1/auth/login`, 'POST', { body: admin });
const session = login.accessToken as string;
const call = (method: string, path: string, body?: object, token = session) =>
  callUrl(url + path, method, { token, ...(body && { body }) });
const smtp = { host: '127.0.0.1', port: smtpPort, fromEmail: 'noreply@example.com', tls: 'none' };
await call('POST', '/api/v1/configurationManager/smtpConfig', smtp);

const clients: ToolClient[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

async function createToken(scopes: readonly string[] = AGENT): Promise<{ id: string; accessToken: string }> {
  return (await call('POST', PATS, { name: 'agent', scopes })).body.token;
}
type Version = keyof typeof connectors;
async function connect(version: Version, { accessToken }: { accessToken: string }): Promise<ToolClient> {
  const client = await connectors[version](`${url}/mcp`, { authorization: `Bearer ${accessToken}` });
  clients.push(client);
  return client;
}

const soon = (inMs: number) => ({
  scheduleType: 'once',
  scheduledTime: new Date(Date.now() + inMs).toISOString(),
});
const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['ada@example.com'],
  subject: 'Your code',
  templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
};

describe.each(['v1', 'v2'] as const)('an agent on the %s client', (version) => {
  test('lists its tools, crawls, sends a mail, and loses access the moment its token is revoked', async () => {
    const token = await createToken();
    const agent = await connect(version, token);
    // oxfmt-ignore
    expect(await agent.listNames()).toEqual([
      'whoami', 'list_my_tokens', 'rotate_my_token', 'revoke_my_token', 'list_connectors', 'schedule_crawl', 'get_crawl',
      'list_crawls', 'pause_crawl', 'resume_crawl', 'remove_crawl', 'crawl_stats', 'send_email',
    ]);
    const { connectors: known } = (await agent.call('list_connectors')).structuredContent;
    const { connector } = known.find(({ kind }: { kind: string }) => kind === 'wiki');
    const scheduled = await agent.call('schedule_crawl', { connector, scheduleConfig: soon(1_000) });
    expect(scheduled.structuredContent).toMatchObject({ connector: 'wiki_1' });
    const isCompleted = async () =>
      (await agent.call('get_crawl', { connector })).structuredContent.state === 'completed';
    await waitFor(isCompleted, { what: 'the crawl' });
    // GRP-7
    expect((await agent.call('get_crawl', { connector })).structuredContent.age).toMatchObject({
      state: 'fresh',
      text: 'wiki_1 was last crawled less than a minute ago.',
    });
    expect((await agent.call('list_crawls')).structuredContent.crawls).toMatchObject([
      { connector: 'wiki_1', scheduleType: 'once', state: 'completed', progress: 100 },
    ]);
    expect((await agent.call('crawl_stats')).structuredContent.completed).toBeGreaterThan(0);
    expect((await agent.call('remove_crawl', { connector })).isError).toBeFalsy();
    expect((await call('GET', `${CRAWL}/wiki_1/schedule`)).status).toBe(404);

    const mail = { ...letter, subject: `from ${token.id}`, idempotencyKey: token.id };
    for (let count = 0; count < 2; count += 1)
      expect((await agent.call('send_email', mail)).structuredContent).toMatchObject({ status: true });
    const { mails } = (await callUrl(`http://127.0.0.1:${inboxPort}/api/mails`, 'GET')).body;
    expect(mails.filter(({ subject }: { subject: string }) => subject === mail.subject)).toHaveLength(1);

    await call('DELETE', `${PATS}/${token.id}`);
    await expect(agent.call('whoami')).rejects.toThrow(/401|Unauthorized|invalid/i);
  });

  test('waits for a run, and gets its progress and its outcome', async () => {
    const agent = await connect(version, await createToken());
    const connector = `issues_${version === 'v1' ? 1 : 2}`;
    const progress: number[] = [];
    const result = await agent.call(
      'schedule_crawl',
      { connector, scheduleConfig: soon(2_000), wait: true },
      { onprogress: (step) => progress.push(step.progress) },
    );
    expect(result.structuredContent).toMatchObject({
      connector,
      run: { connector, outcome: 'completed', progress: 100 },
    });
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual([...new Set(progress)].toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(100);
    await call('DELETE', `${CRAWL}/${connector}/schedule`);
  });
});

test('a wait ends when its token is revoked', async () => {
  const token = await createToken();
  const agent = await connect('v2', token);
  const args = { connector: 'mail_1', scheduleConfig: soon(3_600_000), wait: true };
  let answer: Promise<unknown> = Promise.resolve();
  await new Promise<void>((isWaiting) => {
    answer = agent.call('schedule_crawl', args, { onprogress: () => isWaiting() });
  });
  await call('DELETE', `${PATS}/${token.id}`);
  expect(await answer).toMatchObject({ isError: true });
  const isRecorded = async () =>
    (await call('GET', `${PATS}/${token.id}/activity`)).text.includes('"outcome":"refused"');
  await waitFor(isRecorded, { what: 'the refusal in the activity of the token' });
  await call('DELETE', `${CRAWL}/mail_1/schedule`);
});

test('a wait needs the scope that reads runs, and schedules nothing without it', async () => {
  const writer = await connect('v2', await createToken(['crawl:write']));
  const args = { connector: 'mail_2', scheduleConfig: soon(1_000), wait: true };
  expect(await writer.call('schedule_crawl', args)).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('crawl:read') }],
  });
  expect((await call('GET', `${CRAWL}/mail_2/schedule`)).status).toBe(404);
});

test('an agent pauses and resumes, and gets a refusal in the words of the service', async () => {
  const agent = await connect('v1', await createToken());
  const connector = 'support_1';
  const refusal = (text: string) => ({ isError: true, content: [{ text: expect.stringContaining(text) }] });
  expect(await agent.call('get_crawl', { connector })).toMatchObject(
    refusal('No scheduled job found for this connector'),
  );
  const scheduleConfig = { scheduleType: 'hourly', minute: 1 };
  await agent.call('schedule_crawl', { connector: 'Support_1', scheduleConfig });
  expect((await agent.call('pause_crawl', { connector })).structuredContent).toMatchObject({ connector });
  expect(await agent.call('pause_crawl', { connector })).toMatchObject(refusal('Job is already paused'));
  expect((await agent.call('get_crawl', { connector })).structuredContent).toMatchObject({
    state: 'paused',
    age: { state: 'paused', text: 'support_1 has not been crawled yet; its crawls are paused.' },
  });
  expect((await agent.call('resume_crawl', { connector })).structuredContent).toHaveProperty('resumedAt');
  await agent.call('remove_crawl', { connector });
});

const schedule = (scheduleConfig: unknown, more: object = {}) => ({
  connector: 'db_1',
  scheduleConfig,
  ...more,
});
const hourly = { scheduleType: 'hourly', minute: 1 };
const deep = JSON.parse('['.repeat(40) + ']'.repeat(40)) as unknown;

test('a tool describes its invalid arguments, and changes nothing', async () => {
  const agent = await connect('v1', await createToken());
  const { accessToken: mailToken } = await createToken(['SEND_MAIL']);
  const list = async () => {
    const crawls = await call('GET', `${CRAWL}/schedule/all`);
    const records = await call('GET', '/api/v1/mail/records', undefined, mailToken);
    return [crawls.body.data, records.body.pagination.total];
  };
  const before = await list();
  // oxfmt-ignore
  const faults: readonly (readonly [tool: string, args: Record<string, unknown>, fault: RegExp])[] = [
    ['list_connectors', { verbose: true }, /verbose/],
    ['get_crawl', {}, /connector is required/],
    ['get_crawl', { connector: 7 }, /connector/],
    ['get_crawl', { connector: 'x'.repeat(10_000) }, /connector/],
    ['pause_crawl', { connector: '..' }, /connector/],
    ['pause_crawl', { connector: '../stats?' }, /Unknown connector/],
    ['remove_crawl', { connector: 'schedule/all' }, /Unknown connector/],
    ['schedule_crawl', schedule('daily'), /scheduleConfig/],
    ['schedule_crawl', schedule({ scheduleType: 'daily', hour: 24, minute: 0 }), /hour/],
    ['schedule_crawl', schedule({ scheduleType: 'once', scheduledTime: '2020-01-01T00:00:00Z' }), /future/],
    ['schedule_crawl', schedule(hourly, { wait_for: 1 }), /wait_for/],
    ['schedule_crawl', schedule(hourly, { metadata: deep }), /metadata/],
    ['send_email', { ...letter, emailTemplateType: 'other' }, /Unknown Template/],
    ['send_email', { ...letter, subject: 'a\nBcc: b@example.com' }, /subject/],
    ['send_email', { ...letter, bcc: ['b@example.com'] }, /bcc/],
  ];
  for (const [tool, args, fault] of faults) {
    const result = await agent.call(tool, args);
    expect([tool, result.isError, result.content[0]?.text]).toEqual([
      tool,
      true,
      expect.stringMatching(fault),
    ]);
    expect(result).not.toHaveProperty('structuredContent');
  }
  expect(await list()).toEqual(before);
});
