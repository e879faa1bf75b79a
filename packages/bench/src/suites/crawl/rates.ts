import { connectors } from '@platform/events';
import { alternate } from '../../load/alternate.js';
import { load } from '../../load/load.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startBacking, startSmall } from './environment.js';
import { base, scheduleBody } from './latencies.js';
import { openRawQueue } from './raw-queue.js';

const CALLERS = 16;

export const rates = defineMeasurement({
  title: `${CALLERS} callers that replace ${CALLERS * connectors.length} schedules`,
  limitSeconds: 180,
  values: {
    schedule_rate_vs_raw: {
      bar: { min: 0.2 },
      note: 'distinct schedules / upserts of BullMQ alone, 16 callers',
    },
    raw_upserts: { unit: '/s', note: 'upsertJobScheduler, BullMQ alone, 16 callers' },
    schedules: { unit: '/s', note: 'schedules through HTTP, 16 callers, 288 schedules' },
  },
  async run(fixture) {
    const { identity } = await fixture.share(startBacking);
    const { url } = await fixture.share(startSmall);
    const raw = await openRawQueue(fixture);
    const sessions: string[] = [];
    while (sessions.length < CALLERS) sessions.push(await identity.createOrganisation());
    // Each caller is the administrator of an organisation and replaces its schedules in turn.
    const calls = sessions.flatMap((bearer) =>
      connectors.map((connector) => {
        return { path: `${base}/${connector}/schedule`, bearer, body: scheduleBody, expected: 201 };
      }),
    );
    const { rate, ratio } = await alternate(
      fixture,
      { rounds: 3, share: 0.6, warmUpSeconds: 8 },
      {
        raw: (seconds) => raw.upsert(CALLERS, seconds),
        service: async (seconds) => (await load(url, calls, { seconds }, CALLERS)).requestsPerSecond,
      },
    );
    return {
      schedule_rate_vs_raw: ratio('service', 'raw'),
      raw_upserts: rate('raw'),
      schedules: rate('service'),
    };
  },
});
