import { connectors, type Connector } from '@platform/events';
import { waitFor } from '@platform/testing';
import { onceIn } from '../support/crawls.js';
import { json } from '../support/endpoint.js';
import { useEndpointRuns } from '../support/endpoint-runs.js';

/** The endpoint fails the orders of these, whose runs then wait for the next attempt. */
const failing: readonly Connector[] = ['files_2', 'mail_2', 'db_1'];
/** The endpoint is unavailable to these, whose runs are then postponed. */
const postponed: readonly Connector[] = ['files_3', 'chat_1'];

describe('stopping runs', () => {
  // A retry is delayed for longer than the test takes, and no lease expires.
  const env = { RETRY_DELAY_MS: '600000', STALLED_INTERVAL_MS: '30000' };
  const runs = useEndpointRuns('postgres', { isOfAll: true, env });
  const { crawls } = runs;
  const post = (path: string) => runs.platform.call('POST', path);

  it('aborts runs that are active, wait for a retry or are postponed, by a pause, a removal and the removal of all (CRAWL-20)', async () => {
    const other = await runs.platform.createOrganisation();
    const asOther = { token: other.token };
    const worker = await runs.register(other);
    runs.endpoint.answer = ({ body }, response) => {
      if (failing.includes(body?.connector)) json(response, 500);
      else if (postponed.includes(body?.connector)) json(response, 503, {}, { 'retry-after': '600' });
      else runs.endpoint.held.push(response);
    };
    const own = ['files_1', 'files_2', 'files_3', 'mail_1', 'mail_2'] as const;
    for (const connector of own) {
      await crawls.schedule(connector);
      await crawls.run(connector);
    }
    for (const connector of ['wiki_1', 'db_1', 'chat_1']) {
      const body = { scheduleConfig: { scheduleType: 'hourly', minute: 7 }, ...worker };
      await runs.platform.call('POST', `/${connector}/schedule`, { ...asOther, body });
      await runs.platform.call('POST', `/${connector}/run`, asOther);
    }
    const count = async (state: string) =>
      (await runs.platform.db.query('select from runs where state = $1', [state])).rowCount;
    await waitFor(() => runs.endpoint.held.length === 3, { what: 'the orders that are held' });
    await waitFor(async () => (await count('retrying')) === 5, { what: 'the others' });
    const { held } = runs.endpoint;

    // Through a replica that does not run them.
    const replica = await runs.platform.addCrawl({ ROLE: 'api' });
    const pause = await fetch(`${replica.url}/api/v1/crawlingManager/files_1/pause`, {
      method: 'POST',
      headers: { authorization: `Bearer ${runs.platform.admin.token}` },
    });
    const answers = [
      pause,
      await post('/files_2/pause'),
      await post('/files_3/pause'),
      await runs.platform.call('DELETE', '/mail_1/schedule'),
      await runs.platform.call('DELETE', '/mail_2/schedule'),
      await runs.platform.call('DELETE', '/schedule/all', asOther),
    ];
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(await count('aborted')).toBe(8);
    await waitFor(() => held.every(({ destroyed, closed }) => destroyed || closed), {
      what: 'the end of every order',
    });
    await crawls.expectWhole();
    // oxfmt-ignore
    expect((await runs.platform.call('GET', '/stats')).body.data).toMatchObject({
      waiting: 0, active: 0, delayed: 0, paused: 3, repeatable: 0, total: 3,
    });
    await replica.stop();

    runs.endpoint.reset();
    for (const connector of ['files_1', 'files_2', 'files_3'] as const) {
      expect((await post(`/${connector}/resume`)).status).toBe(200);
      await crawls.run(connector);
      await crawls.outcome(connector, 'completed');
    }
    expect(runs.endpoint.asked).toHaveLength(3);
  });

  it('a one-off run that ends while it is paused either completes, or is aborted and completes once it is resumed', async () => {
    const held = new Map<Connector, () => void>();
    runs.endpoint.answer = ({ body }, response) =>
      void held.set(body.connector as Connector, () => json(response, 200));
    await Promise.all(connectors.map((connector) => crawls.schedule(connector, () => onceIn(1_500))));
    await waitFor(() => held.size === connectors.length, { what: 'all orders' });
    const statuses = await Promise.all(
      connectors.map(async (connector, index) => {
        const end = () => held.get(connector)?.();
        if (index % 2 === 0) end();
        const pausing = waitFor(
          async () => {
            const { status } = await post(`/${connector}/pause`);
            return status !== 503 && status;
          },
          { what: 'an answer' },
        );
        if (index % 2 === 1) setImmediate(end);
        return pausing;
      }),
    );
    runs.endpoint.reply(200);
    for (const [index, connector] of connectors.entries()) {
      const isPaused = statuses[index] === 200;
      const { data } = (await runs.platform.call('GET', `/${connector}/schedule`)).body;
      expect([statuses[index], data.state]).toEqual(isPaused ? [200, 'paused'] : [400, 'completed']);
      // A schedule that has finished cannot be resumed.
      expect((await post(`/${connector}/resume`)).status).toBe(statuses[index]);
      await crawls.outcome(connector, 'completed');
      const expected = isPaused ? ['completed', 'aborted'] : ['completed'];
      const outcomes = (await crawls.runs(connector)).map(({ outcome }) => outcome as string);
      // Before them are the runs of the other test.
      expect(outcomes.slice(0, expected.length)).toEqual(expected);
    }
    await crawls.expectWhole();
    expect(runs.platform.crawl.logged()).not.toContain('40P01');
  });
});
