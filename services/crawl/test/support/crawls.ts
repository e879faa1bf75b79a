import type { Connector } from '@platform/events';
import { type Answer, waitFor } from '@platform/testing';
import type { Platform } from './platform.js';

export const daily = { scheduleType: 'daily', hour: 2, minute: 15 };
/** Returns the configuration of a one-off schedule in some ms. */
export const onceIn = (ms: number) => ({
  scheduleType: 'once',
  scheduledTime: new Date(Date.now() + ms).toISOString(),
});

/** Operations on the schedules and runs of the first organisation. They retry what a fault refuses. */
export interface Crawls {
  /** Retries until the schedule is accepted. A function is called for the configuration each time. */
  schedule(connector: Connector, scheduleConfig?: object | (() => object)): Promise<Answer>;
  /** Requests a run. Returns its id. */
  run(connector: Connector): Promise<string>;
  // The tests read responses of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  runs(connector: Connector): Promise<any[]>;
  /** Waits until the latest run has this outcome, and returns it. */
  // oxlint-disable-next-line typescript/no-explicit-any
  outcome(connector: Connector, wanted: string): Promise<any>;
  /**
   * Waits for the state that has to be reached after each fault: no run is stuck in progress, and exactly the completed
   * runs have an event, whose positions are in their order.
   */
  expectWhole(): Promise<void>;
}

/** @param getWorker - returns the fields of a schedule that say who crawls. */
export function createCrawls(
  platform: () => Platform,
  getWorker: (connector: Connector) => object = () => ({}),
): Crawls {
  const call = (method: string, path: string, body?: unknown) => platform().call(method, path, { body });
  const until = (path: string, wanted: number, body?: () => unknown) =>
    waitFor(
      async () => {
        const answer = await call('POST', path, body?.());
        if (answer.status !== wanted) throw new Error(answer.text);
        return answer;
      },
      { what: path },
    );

  async function findWrong(): Promise<string[]> {
    const { db } = platform();
    const { rows } = await db.query<{ wrong: string }>(
      `select coalesce(r.connector || ' ' || r.state, 'event without run') as wrong
       from runs r full join outbox.events o on o.cause = r.id::text
       where r.state in ('waiting', 'active', 'retrying') or r.event_id is distinct from o.event_id
         or (r.state = 'completed') is distinct from (o.event_id is not null)
       union all select 'out of order: ' || event_key from (
         select event_key, position, lag(position) over (partition by event_key order by seq) as earlier
         from outbox.events) as placed where position is null or position < earlier`,
    );
    return rows.map(({ wrong }) => wrong);
  }

  const runs = async (connector: Connector) => (await call('GET', `/${connector}/runs?limit=100`)).body.data;
  return {
    schedule: (connector, given = daily) =>
      until(`/${connector}/schedule`, 201, () => ({
        scheduleConfig: typeof given === 'function' ? (given as () => object)() : given,
        ...getWorker(connector),
      })),
    run: async (connector) => (await until(`/${connector}/run`, 202)).body.data.runId,
    runs,
    outcome: (connector, wanted) =>
      waitFor(
        async () => {
          const [run] = await runs(connector);
          if (run?.outcome !== wanted) throw new Error(JSON.stringify(run));
          return run;
        },
        { what: `the outcome ${wanted} of ${connector}` },
      ),
    async expectWhole() {
      const check = async () => {
        const wrong = await findWrong();
        if (wrong.length > 0) throw new Error(wrong.join('\n'));
        return true;
      };
      await waitFor(check, { what: 'agreement of runs and events', intervalMs: 100 });
    },
  };
}
