import { startEndpoint } from '../support/endpoint.js';
import { describeEachBackend, type Platform, startPlatform } from '../support/platform.js';

describeEachBackend('two replicas on %s', (backend) => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend, env: { ROLE: 'api' } });
  });
  afterAll(() => platform.close());

  it('a replica with the role worker requests no keys from identity', async () => {
    const identity = await startEndpoint();
    // An API would fetch the keys before it is ready.
    const worker = await platform.addCrawl({ ROLE: 'worker', IDENTITY_URL: identity.url });
    await worker.stop();
    await identity.close();
    expect(identity.asked).toEqual([]);
  });
});
