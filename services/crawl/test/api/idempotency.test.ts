import { randomUUID } from 'node:crypto';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

/* API-26 in crawl, whose errors have another form and whose runs are created with 202. */

describe('idempotency keys', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres' });
  });
  afterAll(() => platform.close());

  const call = (path: string, key: string, body?: object) =>
    platform.call('POST', path, { headers: { 'idempotency-key': key }, ...(body && { body }) });

  it('API-26 request one run when the request is repeated', async () => {
    const options = { scheduleConfig: daily, worker: 'pull' };
    await platform.call('POST', '/files_1/schedule', { body: options });
    const key = randomUUID();
    const first = await call('/files_1/run', key);
    const again = await call('/files_1/run', key);
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await call('/files_1/run', randomUUID())).body.error.code).toBe('RUN_IN_PROGRESS');
    const other = await call('/files_1/run', key, { mode: 'full' });
    expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('API-26 return the secret of an endpoint once more', async () => {
    const key = randomUUID();
    const body = { url: 'https://crawler.example.com/crawl', description: 'one' };
    const first = await call('/endpoints', key, body);
    const again = await call('/endpoints', key, body);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect((await platform.call('GET', '/endpoints')).body.data).toHaveLength(1);
  });

  it('API-26 are free again after a refusal', async () => {
    const key = randomUUID();
    expect((await call('/issues_1/run', key)).status).toBe(404);
    await platform.call('POST', '/issues_1/schedule', { body: { scheduleConfig: daily, worker: 'pull' } });
    expect((await call('/issues_1/run', key)).status).toBe(202);
  });
});
