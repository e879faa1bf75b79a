import { alternate } from '../../load/alternate.js';
import { createMemberLoad, MEMBERS } from '../../load/members.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { allDelivered, causeFacts, startFactsIdentity, startReceiver } from './environment.js';

export const besideRequests = defineMeasurement({
  title: 'requests beside 1,000 facts a second, which one destination gets as logs',
  limitSeconds: 180,
  values: {
    facts_beside_p99: {
      bar: { max: 1.1 },
      note: '99 % of GET /users/me: beside 1,000 facts a second with a destination of logs / without',
    },
  },
  async run(fixture) {
    const identity = await fixture.share(startFactsIdentity);
    const receiver = await fixture.share(startReceiver);
    const tokens = await identity.createTokens(MEMBERS, { scopes: ['user:read'] });
    const logs = { form: 'logs', url: `${receiver.url}/logs` };
    await identity.call('POST', '/api/v1/events/destinations', logs);

    const work = createMemberLoad(identity.url, tokens);
    const { ratio } = await alternate(
      fixture,
      { rounds: 5, warmUpSeconds: 2 },
      {
        without: work,
        beside: async (seconds) => {
          const [p99] = await Promise.all([work(seconds), causeFacts(identity.databaseUrl, seconds)]);
          await allDelivered(identity.databaseUrl);
          return p99;
        },
      },
    );
    return { facts_beside_p99: ratio('beside', 'without') };
  },
});
