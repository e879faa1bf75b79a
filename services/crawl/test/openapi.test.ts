import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { callUrl, type DocumentedRequest, findDisagreements, openDocument } from '@platform/testing';
import { type Platform, startPlatform } from './support/platform.js';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));

let platform: Platform;
let body: Parameters<typeof openDocument>[0] & { readonly openapi: string };
let document: ReturnType<typeof openDocument>;
let requests: readonly DocumentedRequest[];
beforeAll(async () => {
  platform = await startPlatform({
    backend: 'postgres',
  });
  ({ body } = await callUrl(`${platform.crawl.url}/docs/json`, 'GET'));
  document = openDocument(body);
  const registered = await platform.call('POST', '/endpoints', { body: { url: 'https://a.example/crawl' } });
  requests = listRequests(registered.body.data.endpointId as string);
});
afterAll(() => platform.close());

test('openapi.json is what the service documents (renew it with UPDATE_OPENAPI=1)', async () => {
  if (process.env.UPDATE_OPENAPI) await writeFile(file, `${JSON.stringify(body, null, 2)}\n`);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});

/* Valid requests, and what is made of them: the document refuses what the service refuses with 400, and nothing else (API-15). */

const id = '01900000-0000-7000-8000-000000000000';
const base = { isEnabled: true, timezone: 'Europe/Berlin', jitterMs: 60_000, missedRunPolicy: 'skip' };
const toCron = (cronExpression: string) => ({ scheduleType: 'custom', cronExpression });
const configs = [
  { scheduleType: 'hourly', minute: 7, interval: 2, ...base },
  { scheduleType: 'daily', hour: 2, minute: 15 },
  { scheduleType: 'weekly', daysOfWeek: [1, 5], hour: 2, minute: 15 },
  { scheduleType: 'monthly', dayOfMonth: 31, hour: 2, minute: 15 },
  { ...toCron('*/15 0-6,20 1-7 * 1'), description: 'Often' },
  { scheduleType: 'once', scheduledTime: '2099-01-01T00:00:00+05:45' },
];
/** The expressions of the README and the tests of cron. */
const expressions = [
  '0 0 * * MON-FRI', '0 0 1 JAN *', '0 0 L * *', '0 0 * * 5L', '0 0 * * FRIL', '0 0 29 2 *', '0\t0  *  * *', '0 0 * * 7,7',
  '0 0 * * SUN,0,7', '0 0 1-5,3,L,L * *', '5,5-6 */12,0 1,1-2 jan,1 *', '0 0 * * MON#2', '?/5 0 */05 * *', '0 0 * * thu',
]; // oxfmt-ignore
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const timezone = ['timezone'];
const source = {
  description: 'The folder /srv/handbook',
  documents: 120,
  oldestAt: '2019-03-04T10:00:00.000Z',
  newestAt: '2026-11-27T07:58:12.000Z',
};
const counters = { items: 1, deleted: 0, failed: 0, bytes: 7 };
/** Other requests with this key are refused, so only the key is changed. */
const keyed = { headers: { 'idempotency-key': 'key-1' }, changed: ['headers' as const] };
const page = { page: '1', limit: '20', cursor: id };

/** The requests for each connector, on the paths of its default instance and of another one. */
const listOfInstance = (endpointId: string, suffix: string, path: Record<string, string>): DocumentedRequest[] => {
  const of = (name: string, more: Partial<DocumentedRequest> = {}): DocumentedRequest => ({
    operationId: `${name}${suffix}`,
    path,
    ...more,
    // The bodies are those of the default instance.
    ...(suffix !== '' && { changed: more.headers ? ['headers'] : ['path', 'query'] }),
  });
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  return [
    ...['getSchedule', 'resume', 'resetCheckpoint', 'removeSchedule'].map((name) => of(name)),
    ...configs.map((config, index) =>
      of('previewSchedule', {
        changed: ['body'],
        kept: index < 2 ? timezone : ['scheduleType', 'hour', 'minute'],
        body: { scheduleConfig: config },
      }),
    ),
    ...expressions.map((cron) => of('previewSchedule', { changed: [], body: { scheduleConfig: toCron(cron) } })),
    of('previewSchedule', { query: { count: '3' }, body: { scheduleConfig: { ...scheduleConfig, isEnabled: false } } }),
    ...configs.map((config) => of('schedule', { changed: [], body: { scheduleConfig: config } })),
    of('schedule', {
      kept: [...timezone, 'minute', 'interval', 'jitterMs', 'missedRunPolicy'],
      body: {
        scheduleConfig: configs[0], priority: 1, maxRetries: 0, timeout: 1_000, metadata: { folder: 'all' }, worker: 'pull',
        fullEvery: 'P7D',
      },
    }),
    of('schedule', { changed: ['body'], kept: ['scheduleConfig'], body: { scheduleConfig: configs[5], worker: 'endpoint', endpointId } }),
    of('pause', { body: { until: '2099-01-01T00:00:00Z' } }),
    of('pause'),
    of('runNow', { body: { mode: 'full' } }),
    of('runNow'),
    of('runNow', keyed),
    of('createHook', { ...keyed, body: { kind: 'github' } }),
    of('rotateHookSecret', { ...keyed, path: { ...path, hookId: id } }),
    of('listNextRuns', { query: { count: '3' } }),
    of('listRuns', { query: { ...page, outcome: 'failed', q: 'refused' } }),
    of('getRun', { path: { ...path, runId: id } }),
    of('cancelRun', { path: { ...path, runId: id } }),
    of('listHooks'),
    of('createHook', { body: { kind: 'github', description: 'The code', secret } }),
    of('rotateHookSecret', { path: { ...path, hookId: id }, body: { secret } }),
    of('rotateHookSecret', { path: { ...path, hookId: id } }),
    of('removeHook', { path: { ...path, hookId: id } }),
  ];
}; // oxfmt-ignore

const listRequests = (endpointId: string): DocumentedRequest[] => [
  ...listOfInstance(endpointId, '', { connector: 'files_1' }),
  ...listOfInstance(endpointId, 'OfInstance', { connector: 'wiki_1', instance: 'hr' }),
  { operationId: 'getSchedule', changed: [], path: { connector: ' F iles_1' } },
  { operationId: 'getInstance', path: { connector: 'wiki_1', instance: 'hr' } },
  {
    operationId: 'saveInstance',
    path: { connector: 'wiki_1', instance: 'hr' },
    body: { displayName: 'HR', ownerId: id },
  },
  { operationId: 'removeInstance', path: { connector: 'chat_1', instance: 'hr' } },
  {
    operationId: 'listInstances',
    query: { connector: 'WIKI_1', cursor: Buffer.from('wiki_1 hr').toString('base64url'), limit: '1' },
    kept: ['cursor'],
  },
  {
    operationId: 'listEvents',
    query: { after: Buffer.from(`e1:${id}:1:0`).toString('base64url'), limit: '1', connector: 'wiki_1' },
    kept: ['after'],
  },
  { operationId: 'listEvents', query: { connector: 'wiki_1', instance: 'hr' }, kept: ['connector'] },
  { operationId: 'createEndpoint', body: { url: 'https://a.example/crawl?x=@', description: 'The wiki' } },
  { operationId: 'createEndpoint', ...keyed, body: { url: 'https://a.example/crawl' } },
  { operationId: 'createEndpoint', changed: [], body: { url: 'HTTPS://bücher.example' } },
  { operationId: 'rotateEndpointSecret', ...keyed, path: { endpointId: id } },
  ...['rotateEndpointSecret', 'testEndpoint', 'removeEndpoint'].map((operationId) => ({
    operationId,
    path: { endpointId: id },
  })),
  { operationId: 'findRun', path: { runId: id } },
  { operationId: 'ringHook', path: { hookId: id } },
  {
    operationId: 'claimWork',
    body: { connectors: ['Mail_1'], instances: ['default'], worker: 'test', waitMs: 0 },
  },
  {
    operationId: 'reportWork',
    path: { runId: id },
    body: { lease: 'bGVhc2U', progress: 50, checkpoint: { page: 1 }, counters, log: ['half'], source },
  },
  {
    operationId: 'finishWork',
    path: { runId: id },
    body: {
      lease: 'bGVhc2U',
      state: 'failed',
      reason: 'no',
      retry: false,
      progress: 60,
      checkpoint: 'page 2',
      counters,
      log: ['end'],
      source,
    },
  },
];

/** Codes of 400 for the state of the schedule, whatever the request is. */
const STATE_CODES = new Set(['NO_ACTIVE_JOB', 'ALREADY_PAUSED', 'NO_PAUSED_JOB']);

async function send(request: DocumentedRequest) {
  // A worker that waits long is not refused.
  const signal = AbortSignal.timeout(request.operationId === 'claimWork' ? 1_000 : 30_000);
  const options = { token: platform.admin.token, signal };
  const answer = await document.send(platform.crawl.url, request, options).catch((error: unknown) => {
    if (signal.aborted) return { status: 204, text: '', body: undefined };
    throw error;
  });
  return STATE_CODES.has(answer.body?.error?.code as string) ? { ...answer, status: 409 } : answer;
}

test('the valid requests have every parameter and every field of the document', () => {
  expect(document.findMissing(requests)).toEqual([]);
});

test('the document refuses exactly what the service refuses for its content', async () => {
  for (const request of requests) expect([request, (await send(request)).status]).not.toEqual([request, 400]);
  expect(await findDisagreements(document, requests, send)).toEqual([]);
});

/* The document says in words what no schema can. */
const toPreview = (scheduleConfig: object): DocumentedRequest => ({
  operationId: 'previewSchedule',
  path: { connector: 'files_1' },
  body: { scheduleConfig },
});
const toSchedule = (more: object): DocumentedRequest => ({
  operationId: 'schedule',
  path: { connector: 'files_1' },
  body: { scheduleConfig: { scheduleType: 'daily', hour: 2, minute: 15 }, ...more },
});
test.each<[string, DocumentedRequest, string]>([
  ['a time zone that nobody knows', toPreview({ scheduleType: 'daily', hour: 2, minute: 15, timezone: 'Mars/Olympus' }), 'that the platform knows'],
  ['a cron expression that never fires', toPreview(toCron('0 0 30 2 *')), 'at least once within the next five years'],
  ['a weekday that is none', toPreview(toCron('0 0 * * FOO')), 'months and weekdays'],
  ['a range that descends', toPreview(toCron('5-1 0 * * *')), 'ranges ascend'],
  ['a time in the past', toSchedule({ scheduleConfig: { scheduleType: 'once', scheduledTime: '2020-01-01T00:00:00Z' } }), 'has to be in the future'],
  ['a pause that has ended', { operationId: 'pause', path: { connector: 'files_1' }, body: { until: '2020-01-01T00:00:00Z' } }, 'When it resumes by itself, in the future'],
  ['an unknown endpoint', toSchedule({ worker: 'endpoint', endpointId: id }), 'an endpoint of the organisation'],
  ['deep metadata', toSchedule({ metadata: JSON.parse(`${'{"a":'.repeat(34)}1${'}'.repeat(34)}`) as object }), 'nests at most 32 levels deep'],
  ['an instance without its connector', { operationId: 'listEvents', query: { instance: 'hr' } }, 'It needs `connector`'],
  ['an invented cursor of events', { operationId: 'listEvents', query: { after: 'x' } }, 'nothing else is accepted'],
  ['an invented cursor of instances', { operationId: 'listInstances', query: { cursor: 'x' } }, 'nothing else is accepted'],
  ['an endpoint with a private address', { operationId: 'createEndpoint', body: { url: 'https://10.0.0.1/' } }, 'a public address'],
  ['a secret that is none of Standard Webhooks', { operationId: 'createHook', path: { connector: 'code_1' }, body: { kind: 'standard_webhooks', secret: 'made-by-the-source' } }, 'which for `standard_webhooks` has the form'],
  ['a large checkpoint', { operationId: 'reportWork', path: { runId: id }, body: { lease: 'bGVhc2U', checkpoint: 'x'.repeat(65_536) } }, 'at most 64 KiB'],
  ['NUL in a body', toSchedule({ metadata: { a: '\u0000' } }), 'a text with NUL'],
])('%s is refused, as the document says in words', async (_what, request, words) => {
  expect((await send(request)).status).toBe(400);
  expect(document.allows(request)).toBe(true);
  expect(JSON.stringify(body)).toContain(words);
}); // oxfmt-ignore
