import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { describeWith, ENDPOINT_CONNECTORS, waitFor } from '@platform/testing';
import { findBarriers, useConsole } from './console.js';
import { waitForDialog, waitForFocus } from './focus.js';

const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'UTC' };

const [FIRST, SECOND] = ENDPOINT_CONNECTORS;

describeWith('chromium', 'the page of a run', () => {
  /** Answers of the connectors' endpoint that a test has yet to give. */
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => void held.push(response));
  const using = useConsole();
  beforeAll(async () => {
    server.listen(using.platform.endpointPort, '127.0.0.1');
    await once(server, 'listening');
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
    await using.platform.call('POST', `${path}/schedule`, { scheduleConfig });
    const { data } = await using.platform.call<{ data: { runId: string } }>('POST', `${path}/run`);
    return data.runId;
  };

  test('shows each attempt with its reason, and the event of the one that completed', async () => {
    await run(FIRST);
    const page = await using.open(`/crawls/connectors/${FIRST}`);
    await page.getByRole('row').filter({ hasText: 'Running' }).click();
    await page.getByRole('heading', { name: `Run of ${FIRST}` }).waitFor();
    await page.getByText('It has published none').waitFor();
    await answer(503);
    await answer(500);
    await answer(200);
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('row').filter({ hasText: 'Completed' }).waitFor();
    await attempts.getByRole('row').filter({ hasText: '500' }).getByText('Failed').waitFor();
    await page.getByText('"eventType": "SyncFiles1Event"').waitFor();
    for (const theme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      expect(await findBarriers(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(await findBarriers(page)).toEqual([]);
  });

  test('cancels a run by keyboard alone; the schedule stays', async () => {
    const runId = await run(SECOND);
    await waitFor(() => held.length > 0, { what: 'the order' });
    const page = await using.open(`/crawls/connectors/${SECOND}/runs/${runId}`);
    await page.getByRole('button', { name: 'Cancel the run…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Cancel the run of ${SECOND}?` }).waitFor();
    await waitForDialog(page);
    await page.keyboard.press('Shift+Tab');
    await waitForFocus(page, 'Cancel the run');
    await page.keyboard.press('Enter');
    await page.getByText(`The run of ${SECOND} is cancelled.`).waitFor();
    await page.getByRole('note').getByText('Cancelled by an administrator').waitFor();
    await page.getByRole('button', { name: 'Cancel the run…' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: SECOND, exact: true }).first().click();
    await page.getByRole('radio', { name: 'Aborted' }).click();
    await page.waitForURL(/outcome=aborted/);
    await page.getByRole('row').filter({ hasText: 'Cancelled by an administrator' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  test('explains why a schedule did not run', async () => {
    await using.platform.call('POST', '/api/v1/crawlingManager/code_1/schedule', { scheduleConfig });
    await using.platform.call('POST', '/api/v1/crawlingManager/code_1/pause');
    const page = await using.open('/crawls/connectors/code_1');
    await page.getByRole('heading', { name: 'Why it did not run' }).waitFor();
    await page.getByText('Times that pass meanwhile are left out.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('heading', { name: 'Why it did not run' }).waitFor({ state: 'detached' });
  });
});
