import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith, waitFor } from '@platform/testing';
import { copy, findBarriers, findBarriersInLooks, useConsole } from './console.js';
import { expectSoundDialog } from './dialog-checks.js';
import { press } from './focus.js';

const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };

const FIRST = 'files_1';
const SECOND = 'files_2';
const NAMES = { [FIRST]: 'Cloud files', [SECOND]: 'Cloud files 2' } as const;

describeWith('chromium', 'the page of a run', () => {
  /** Answers of the endpoint that a test has yet to give. */
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => void held.push(response));
  const using = useConsole();
  let endpointId: string;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const path = '/api/v1/crawlingManager/endpoints';
    ({ endpointId } = (
      await using.platform.call<{ data: { endpointId: string } }>('POST', path, { url })
    ).data);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    held.length = 0;
  });

  const answer = async (status: number) => {
    await waitFor(() => held.length > 0, { what: 'the order' });
    held.pop()?.writeHead(status).end();
  };
  const run = async (connector: string): Promise<string> => {
    const path = `/api/v1/crawlingManager/${connector}`;
    await using.platform.call('POST', `${path}/schedule`, {
      scheduleConfig,
      worker: 'endpoint',
      endpointId,
    });
    const { data } = await using.platform.call<{ data: { runId: string } }>('POST', `${path}/run`);
    return data.runId;
  };

  test('shows each attempt with its reason, and the event of the completed attempt', async () => {
    await run(FIRST);
    const page = await using.open(`/crawls/connectors/${FIRST}`);
    await page.getByRole('row').filter({ hasText: 'Running' }).click();
    await page.getByRole('heading', { name: `Run of ${NAMES[FIRST]}` }).waitFor();
    await page.getByText('It publishes one once it has completed.').waitFor();
    await answer(503);
    await answer(500);
    await answer(200);
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row').filter({ hasText: 'Completed' }).waitFor();
    await attempts.getByRole('row').filter({ hasText: '500' }).getByText('Failed').waitFor();
    await page.getByText('"eventType": "SyncFiles1Event"').waitFor();
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
  });

  test('cancels a run by keyboard alone; the schedule stays', async () => {
    const runId = await run(SECOND);
    await waitFor(() => held.length > 0, { what: 'the order' });
    const page = await using.open(`/crawls/connectors/${SECOND}/runs/${runId}`);
    await page.getByRole('button', { name: 'Cancel the run…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Cancel the run of ${NAMES[SECOND]}?` }).waitFor();
    await expectSoundDialog(page);
    await press(page, 'Cancel the run');
    await page.getByText(`The run of ${NAMES[SECOND]} is cancelled.`).waitFor();
    await page.getByRole('note').getByText('Cancelled by an administrator').waitFor();
    await page.getByRole('button', { name: 'Cancel the run…' }).waitFor({ state: 'detached' });
    await page.getByRole('term').filter({ hasText: 'Attempts' }).waitFor();
    expect(await page.getByText('Waiting', { exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: NAMES[SECOND], exact: true }).first().click();
    await page.getByRole('button', { name: /Outcome$/ }).click();
    for (const name of ['Waiting', 'Running', 'Retrying']) await page.getByRole('option', { name }).waitFor();
    await page.getByRole('option', { name: 'Aborted' }).click();
    await page.waitForURL(/outcome=aborted/);
    await page.getByRole('row').filter({ hasText: 'Cancelled by an administrator' }).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  });

  test('shows who asked for a run, which worker has it, what it has counted and logged, and how far it is', async () => {
    const { call } = using.platform;
    const path = '/api/v1/crawlingManager';
    await call('POST', `${path}/support_1/schedule`, { scheduleConfig, worker: 'pull', fullEvery: 'P7D' });
    const { user } = await call<{ user: { fullName: string } }>('GET', '/api/v1/users/me');
    const { data } = await call<{ data: { runId: string } }>('POST', `${path}/support_1/run`);
    const page = await using.open(`/crawls/connectors/support_1/runs/${data.runId}`);
    await page.getByText(`${user.fullName}, by “Run now”`).waitFor();
    await page.getByText('No worker has claimed it yet').waitFor();
    expect(await copy(page, 'Run id')).toBe(data.runId);

    const { lease } = await call<{ lease: string }>('POST', `${path}/work/claim`, {
      connectors: ['support_1'],
      worker: 'desk worker',
      waitMs: 0,
    });
    const counters = { items: 1_234, deleted: 5, failed: 6, bytes: 7_000_000 };
    const beat = { lease, progress: 42, counters, log: ['page 17 of the archive'] };
    await call('POST', `${path}/work/${data.runId}/heartbeat`, beat);
    await page.getByText('desk worker, claimed').waitFor();
    await page.getByText('42 %').waitFor();
    const figure = (name: string) => page.locator('.figures > div').filter({ hasText: name }).locator('dd');
    const figures = await Promise.all(
      ['Items', 'Deleted', 'Failed', 'Data'].map((name) => figure(name).textContent()),
    );
    expect(figures).toEqual(['1,234', '5', '6', '7\u00a0MB']);
    await page.getByRole('list', { name: 'Log' }).getByText('page 17 of the archive').waitFor();
    const elapsed = figure('Took');
    const before = await elapsed.textContent();
    await waitFor(async () => (await elapsed.textContent()) !== before, { what: 'the elapsed time' });
    expect(await findBarriers(page)).toEqual([]);
    const finish = `${path}/work/${data.runId}/finish`;
    await call('POST', finish, { lease, state: 'continue', checkpoint: 17, counters });
    const next = await call<{ lease: string }>('POST', `${path}/work/claim`, {
      connectors: ['support_1'],
      worker: 'desk worker',
      waitMs: 0,
    });
    await call('POST', finish, { lease: next.lease, state: 'completed', counters });
    await page.getByRole('img', { name: /^2 attempts within/ }).waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' }).getByRole('row');
    await attempts.nth(2).getByText('Completed').waitFor();
    const slices = await attempts.evaluateAll((rows) =>
      rows.map((row) => row.querySelector('td')?.textContent),
    );
    expect(slices).toEqual([undefined, '1', '2']);

    await page.getByRole('link', { name: 'Support desk', exact: true }).click();
    await page.getByText('Workers that claim its runs').waitFor();
    await page.getByRole('button', { name: 'Edit schedule' }).click();
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await page.getByText('The schedule of Support desk is saved.').waitFor();
    const saved = await call<{ data: object }>('GET', `${path}/support_1/schedule`);
    expect(saved.data).toMatchObject({ worker: 'pull', fullEvery: 'P7D' });
  });

  test('UI-39 tells a run in order, searches and saves its log, compares it with the run before, and runs it again', async () => {
    const { call } = using.platform;
    const path = '/api/v1/crawlingManager';
    await call('POST', `${path}/suite_1/schedule`, { scheduleConfig, worker: 'pull' });
    const claim = { connectors: ['suite_1'], worker: 'suite worker', waitMs: 0 };
    const perform = async (counters: object, log: readonly string[]): Promise<string> => {
      const { data } = await call<{ data: { runId: string } }>('POST', `${path}/suite_1/run`);
      const { lease } = await call<{ lease: string }>('POST', `${path}/work/claim`, claim);
      const end = { lease, state: 'completed', counters, log };
      await call('POST', `${path}/work/${data.runId}/finish`, end);
      return data.runId;
    };
    const first = await perform({ items: 10 }, []);
    const second = await perform({ items: 12, failed: 1 }, ['page 1', 'page 2 of the archive']);
    const page = await using.open(`/crawls/connectors/suite_1/runs/${second}`);
    const steps = page.locator('.run-steps strong');
    await steps.filter({ hasText: 'Event published: SyncSuite1Event' }).waitFor();
    const told = ['Due', 'Claimed by suite worker', 'Completed', 'Event published: SyncSuite1Event'];
    expect(await steps.allTextContents()).toEqual(told);
    const compared = page.getByRole('table').filter({ hasText: 'Difference' });
    await compared.getByRole('row', { name: 'Items 12 10 +2' }).waitFor();
    await compared.getByRole('row', { name: 'Failed 1 0 +1' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('ARCHIVE');
    await page.getByText('1 of 2 lines').waitFor();
    expect(await page.getByRole('list', { name: 'Log' }).getByRole('listitem').count()).toBe(1);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    expect((await saved).suggestedFilename()).toBe(`run-${second}.log`);
    expect(await findBarriersInLooks(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Open that run' }).click();
    await page.waitForURL(new RegExp(first));
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('No worker has claimed it yet').waitFor();
    expect(page.url()).not.toContain(first);
  });

  test('names the zone of a schedule where the browser has another one', async () => {
    const daily = { scheduleType: 'daily', hour: 2, minute: 30 };
    for (const [connector, timezone] of [['db_1', 'Asia/Tokyo'], ['chat_1', 'UTC']] as const) {
      const path = `/api/v1/crawlingManager/${connector}/schedule`;
      await using.platform.call('POST', path, { scheduleConfig: { ...daily, timezone } });
    }
    const page = await using.open('/crawls/connectors/db_1', { timezone: 'UTC' });
    const next = page.locator('.facts > div').filter({ hasText: 'Next run' }).locator('dd');
    await next.getByText(/, 02:30 Asia\/Tokyo · .+, 17:30 UTC$/).waitFor();
    await page.getByText('Times are those of UTC; the schedule’s are those of Asia/Tokyo.').waitFor();
    await page.goto(`${using.platform.url}/crawls/connectors/chat_1`);
    await next.getByText(/, 02:30:00$/).waitFor();
  }); // oxfmt-ignore

  test('explains why a schedule did not run', async () => {
    await using.platform.call('POST', '/api/v1/crawlingManager/code_1/schedule', { scheduleConfig });
    await using.platform.call('POST', '/api/v1/crawlingManager/code_1/pause');
    const page = await using.open('/crawls/connectors/code_1');
    await page.getByRole('heading', { name: 'Why it does not run' }).waitFor();
    await page.getByText('Times that pass meanwhile are left out.').waitFor();
    await page.getByText('It is paused, so it cannot be run now.').waitFor();
    expect(await page.getByRole('button', { name: 'Run now' }).isDisabled()).toBe(true);
    expect(await page.getByText(/\dT\d\d:\d\d/).count()).toBe(0);
    await page.getByText('No worker is set: a run only publishes its event').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { name: 'Why it does not run' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Pause until…' }).click();
    await page.getByLabel('Resumes at').fill('2036-01-01T08:30');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Resumes by itself').waitFor();
  });
});
