import { createSecretBox, encryptionKeys, reencryptAll } from '@platform/service-kit';
import { ENCRYPTION_KEYS, waitFor } from '@platform/testing';
import { sealedColumns } from '../../src/sealed-columns.js';
import { createCrawls, daily } from '../support/crawls.js';
import { type Endpoint, registerEndpoint, startEndpoint } from '../support/endpoint.js';
import { type Platform, startPlatform } from '../support/platform.js';

const NEW_KEY = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
const createBox = (keys: string) => createSecretBox(encryptionKeys.parse(keys) ?? []);

describe('re-encryption', () => {
  let platform: Platform;
  let endpoint: Endpoint;
  beforeAll(async () => {
    endpoint = await startEndpoint();
    platform = await startPlatform({ backend: 'postgres', env: { HOOK_DELAY_MS: '0' } });
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.stop();
  });

  it('makes the old key removable: endpoints and hooks keep their secrets', async () => {
    const { worker } = await registerEndpoint(platform, endpoint.url);
    const body = { scheduleConfig: daily, maxRetries: 0, ...worker };
    await platform.call('POST', '/files_1/schedule', { body });
    const hook = (await platform.call('POST', '/files_1/hooks', { body: { kind: 'bearer' } })).body.data;

    await expect(reencryptAll(platform.db, createBox(NEW_KEY), sealedColumns)).rejects.toThrow(
      'ENCRYPTION_KEYS must hold the key that sealed the endpoint secrets',
    );
    const both = createBox(`${NEW_KEY},${ENCRYPTION_KEYS}`);
    const all = { 'endpoint secrets': 1, 'hook secrets': 1 };
    expect(await reencryptAll(platform.db, both, sealedColumns)).toEqual(all);
    const none = { 'endpoint secrets': 0, 'hook secrets': 0 };
    expect(await reencryptAll(platform.db, both, sealedColumns)).toEqual(none);

    await platform.crawl.stop();
    await platform.addCrawl({ ENCRYPTION_KEYS: NEW_KEY }, { isFirst: true });
    const rung = await fetch(platform.crawl.url + (hook.path as string), {
      method: 'POST',
      headers: { authorization: `Bearer ${hook.secret}` },
    });
    expect(rung.status).toBe(202);
    const crawls = createCrawls(() => platform);
    expect(await crawls.outcome('files_1', 'completed')).toMatchObject({ trigger: 'hook' });
    await waitFor(() => endpoint.asked.length === 1, { what: 'the order' });
    expect(endpoint.asked[0]?.headers['webhook-signature']).toMatch(/^v1,/);
  });
});
