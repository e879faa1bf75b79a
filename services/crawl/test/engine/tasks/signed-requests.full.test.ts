import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@platform/embedded';
import { signatureHeaders } from '@platform/service-kit';
import { callUrl, waitFor } from '@platform/testing';
import { createCrawls } from '../../support/crawls.js';
import { type Endpoint, followTask, registerEndpoint, startEndpoint } from '../../support/endpoint.js';
import { type Platform, startPlatform } from '../../support/platform.js';

const toPath = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Starts the example program of the documentation on a port. */
async function startSample(port: number, secret: string): Promise<ChildProcess> {
  const program =
    /```js\n(.*?)```/s.exec(readFileSync(toPath('../../docs/connect/crawl-endpoints.md'), 'utf8'))?.[1] ?? '';
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env['PATH'], PORT: String(port), SECRET: secret },
    stdio: 'inherit',
  });
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}`)).status === 401, {
    what: 'the sample',
  });
  return child;
}

describe('signed requests to endpoints', () => {
  let platform: Platform;
  let endpoint: Endpoint;
  let sample: ChildProcess;
  let sampleUrl: string;
  let secret: Buffer;
  let ofEndpoint: Awaited<ReturnType<typeof registerEndpoint>>;
  let ofSample: typeof ofEndpoint;
  const crawls = createCrawls(
    () => platform,
    (connector) => (connector === 'files_1' ? ofEndpoint : ofSample).worker,
  );
  beforeAll(async () => {
    endpoint = await startEndpoint();
    const port = await findFreePort();
    sampleUrl = `http://127.0.0.1:${port}`;
    platform = await startPlatform({ backend: 'postgres' });
    ofEndpoint = await registerEndpoint(platform, endpoint.url);
    ofSample = await registerEndpoint(platform, `${sampleUrl}/crawl`);
    secret = Buffer.from(ofSample.secret.replace('whsec_', ''), 'base64');
    sample = await startSample(port, ofSample.secret);
  });
  afterAll(async () => {
    await platform.close();
    await endpoint.stop();
    sample.kill('SIGKILL');
  });

  it('are accepted by the example endpoint of the documentation', async () => {
    await crawls.schedule('files_2');
    await crawls.run('files_2');
    expect(await crawls.outcome('files_2', 'completed')).toMatchObject({ attempts: 1 });
  });

  it('replace an earlier order in the example, unless they are older', async () => {
    const order = async (runId: string, attempt: number) => {
      const body = JSON.stringify({ runId, attempt, orgId: 'o', connector: 'wiki_1', instance: 'default' });
      const headers = signatureHeaders([secret], {
        id: `${runId}-${attempt}`,
        at: Date.now(),
        content: body,
      });
      return (await fetch(`${sampleUrl}/crawl`, { method: 'POST', headers, body })).status;
    };
    const answers: number[] = [];
    for (const [runId, attempt] of [
      ['2', 1],
      ['2', 2],
      ['1', 9],
      ['3', 1],
      ['2', 3],
    ] as const)
      answers.push(await order(runId, attempt));
    expect(answers).toEqual([202, 202, 409, 202, 409]);
  });

  describe('that are forged are refused by the endpoint of the README:', () => {
    const body = '{"runId":"1"}';
    const sign = (content: string, change: { key?: Buffer; at?: number } = {}) =>
      signatureHeaders([change.key ?? secret], { id: 'x', at: change.at ?? Date.now(), content });
    const ask = async (method: string, headers: Record<string, string>, path = '/crawl') =>
      (await fetch(sampleUrl + path, { method, headers, ...(method === 'POST' && { body }) })).status;

    it.each([
      ['without a signature', () => ask('POST', {})],
      ['by another secret', () => ask('POST', sign(body, { key: Buffer.alloc(32, 8) }))],
      ['of another body', () => ask('POST', sign(`${body} `))],
      ['that are six minutes old', () => ask('POST', sign(body, { at: Date.now() - 360_000 }))],
      ['that come from the future', () => ask('POST', sign(body, { at: Date.now() + 360_000 }))],
      ['a question made a cancellation', () => ask('DELETE', sign('GET /tasks/x'), '/tasks/x')],
      ['a question about another task', () => ask('GET', sign('GET /tasks/x'), '/tasks/y')],
    ])('%s', async (_title, forge) => {
      expect(await ask('POST', sign(body))).toBe(202);
      expect(await forge()).toBe(401);
    });
  });

  it('contain nothing that identity or crawl accepts as a credential', async () => {
    endpoint.answer = followTask(() => ({ state: 'completed' }));
    await crawls.schedule('files_1');
    await crawls.run('files_1');
    await crawls.outcome('files_1', 'completed');
    const [order, question] = endpoint.asked;
    const always = [
      'accept',
      'connection',
      'host',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-request-id',
    ];
    const ofOrder = ['content-length', 'content-type', 'idempotency-key', 'x-run-deadline', 'x-run-lease'];
    expect(order?.body).toMatchObject({ attempt: 1, mode: 'full' });
    expect(Object.keys(order?.headers ?? {}).toSorted()).toEqual([...always, ...ofOrder].toSorted());
    expect(Object.keys(question?.headers ?? {}).toSorted()).toEqual(always.toSorted());

    const all = [order, question].flatMap((asked) => Object.values(asked?.headers ?? {}).map(String));
    const texts = new Set([...all, ofEndpoint.secret, ...all.map((one) => one.replace('v1,', ''))]);
    for (const token of texts)
      for (const [url, method] of [
        [`${platform.identityUrl}/api/v1/users/me`, 'GET'],
        [`${platform.identityUrl}/api/v1/oauth2/introspect`, 'POST'],
        [`${platform.identityUrl}/api/v1/configurationManager/internal/smtpConfig`, 'GET'],
        [`${platform.crawl.url}/api/v1/crawlingManager/stats`, 'GET'],
      ] as const) {
        const { status } = await callUrl(url, method, { token });
        expect([url, token, status]).toEqual([url, token, 401]);
      }
  });
});
