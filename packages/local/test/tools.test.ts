import { AGENT, CRAWL, PATS, START_MS, startAgentPlatform } from './agent-platform.js';
import { until } from './platform.js';
import { connectors } from './tool-client.js';

/* Tests agents with the official clients, through the gateway and with real services. */

const platform = await startAgentPlatform();
afterAll(() => platform.close());

const soon = (inMs: number) => ({
  scheduleType: 'once',
  scheduledTime: new Date(Date.now() + inMs).toISOString(),
});

describe.each(connectors)('an agent on the %s client', (version) => {
  it(
    'lists its tools, crawls, sends a mail, and loses access the moment its token is revoked',
    // prettier-ignore
    async () => {
      const token = await platform.createToken(AGENT);
      const agent = await platform.connect(version, token.accessToken);
      expect(await agent.listNames()).toEqual([
      'whoami', 'list_my_tokens', 'rotate_my_token', 'revoke_my_token', 'list_connectors', 'schedule_crawl', 'get_crawl',
      'list_crawls', 'pause_crawl', 'resume_crawl', 'remove_crawl', 'crawl_stats', 'send_email',
    ]);
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
      expect((await platform.call('GET', `${CRAWL}/wiki_1/schedule`)).status).toBe(404);

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

      await platform.call('DELETE', `${PATS}/${token.id}`);
      await expect(agent.call('whoami')).rejects.toThrow(/401|Unauthorized|invalid/i);
    },
    START_MS,
  );

  it(
    'waits for a run, and gets its progress and its outcome',
    async () => {
      const agent = await platform.connect(version, (await platform.createToken(AGENT)).accessToken);
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
      await platform.call('DELETE', `${CRAWL}/${connector}/schedule`);
      const writer = await platform.connect(
        version,
        (await platform.createToken(['crawl:write'])).accessToken,
      );
      const refused = await writer.call('schedule_crawl', {
        connector: 'mail_2',
        scheduleConfig: soon(1_000),
        wait: true,
      });
      expect(refused).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('crawl:read') }],
      });
      expect((await platform.call('GET', `${CRAWL}/mail_2/schedule`)).status).toBe(404);
    },
    START_MS,
  );

  it(
    'stops waiting when its client disconnects, and when its token is revoked',
    async () => {
      const [gone, revoked] = [await platform.createToken(AGENT), await platform.createToken(AGENT)];
      const config = { connector: 'mail_1', scheduleConfig: soon(3_600_000), wait: true };
      const waitWith = async ({ accessToken }: { accessToken: string }) => {
        const agent = await platform.connect(version, accessToken);
        let isWaiting = (): void => undefined;
        const waiting = new Promise<void>((resolve) => {
          isWaiting = resolve;
        });
        const answer = agent.call('schedule_crawl', config, { onprogress: isWaiting });
        answer.catch(() => undefined);
        await waiting;
        return { agent, answer };
      };
      const getOutcomes = async ({ id }: { id: string }) =>
        (await platform.call('GET', `${PATS}/${id}/activity`)).body.data.map(
          ({ outcome }: { outcome: string }) => outcome,
        );
      const first = await waitWith(gone);
      await first.agent.close();
      await expect(first.answer).rejects.toThrow(/.+/);
      await until(async () => (await getOutcomes(gone)).includes('cancelled'));
      const second = await waitWith(revoked);
      await platform.call('DELETE', `${PATS}/${revoked.id}`);
      expect(await second.answer).toMatchObject({ isError: true });
      await until(async () => (await getOutcomes(revoked)).includes('refused'));
      await platform.call('DELETE', `${CRAWL}/mail_1/schedule`);
    },
    START_MS,
  );

  it('pauses and resumes, and gets a refusal in the words of the service', async () => {
    const agent = await platform.connect(version, (await platform.createToken(AGENT)).accessToken);
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
