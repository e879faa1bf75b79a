import {
  createCrawlClient,
  crawlOperations,
  identityOperations,
  mailOperations,
  type Operation,
} from '../src/index.js';
import {
  type CallResult,
  createPlatformClient,
  type CrawlOperations,
  type IdentityOperations,
  type MailOperations,
} from '../src/published.js';
import { crawlRoutes } from '../src/generated/crawl.routes.js';
import { identityRoutes } from '../src/generated/identity.routes.js';
import { mailRoutes } from '../src/generated/mail.routes.js';
import { answer, context, startFakeService } from './fake-service.js';

/*
 * Each operation of the published client, against a platform that is newer than the client: its responses have values and
 * fields that the client does not know.
 */

type Operations = IdentityOperations & MailOperations & CrawlOperations;
/** The operations without a type of their result. */
type Untyped = {
  [Id in keyof Operations]: [CallResult<Operations[Id]>] extends [never] ? Id : never;
}[keyof Operations];
/** The operations whose result is nothing. */
type Empty = {
  [Id in keyof Operations]: [CallResult<Operations[Id]>] extends [undefined] ? Id : never;
}[keyof Operations];
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

const service = await startFakeService();
afterAll(() => service.close());
const platform = createPlatformClient({ baseUrl: service.url, maxRetries: 0 });

test('API-20 each operation has the type of what it answers', () => {
  const facts: [
    Same<Untyped, never>,
    Same<Empty, 'logout'>,
    undefined extends CallResult<CrawlOperations['claimWork']> ? true : false,
    Same<CallResult<MailOperations['exportSuppressions']>, string>,
  ] = [true, true, true, true];
  expect(facts).toEqual([true, true, true, true]);
  expect(readAndSend).toBeInstanceOf(Function);
});

/** Type checks alone: what is read is open, what is sent is exact. */
async function readAndSend(): Promise<void> {
  const { data } = await platform.crawl.call('getSchedule', { path: { connector: 'wiki_1' } });
  const state: string = data.state;
  const known: typeof data.state = 'waiting';
  const unknown: typeof data.state = 'a state of a newer platform';
  const path = { connector: 'wiki_1' };
  // @ts-expect-error a type of schedule that does not exist
  const body: Parameters<typeof schedule>[0] = { scheduleConfig: { scheduleType: 'yearly' } };
  const schedule = (
    given: NonNullable<CrawlOperations['schedule']['requestBody']>['content']['application/json'],
  ) => platform.crawl.call('schedule', { path, body: given });
  await schedule(body);
  for await (const token of platform.identity.list('listOwnTokens')) token.name satisfies string;
  // @ts-expect-error no list
  platform.identity.list('getMe');
  [state, known, unknown] satisfies string[];
}

const NEWER = 'of a newer platform';
const samples: Readonly<Record<string, string>> = {
  'date-time': '2026-11-30T10:00:00Z',
  uuid: '0190a0b0-0000-7000-8000-000000000001',
};

/** Creates a value of the schema, with texts and fields that it does not name. */
function createNewer(schema: unknown): unknown {
  const {
    type,
    format,
    enum: values,
    const: only,
    properties = {},
    items,
    anyOf,
    oneOf,
    allOf,
  } = schema as {
    readonly type?: string | readonly string[];
    readonly format?: string;
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly items?: unknown;
    readonly anyOf?: readonly unknown[];
    readonly oneOf?: readonly unknown[];
    readonly allOf?: readonly unknown[];
  };
  if (only !== undefined) return only;
  if (values) return typeof values[0] === 'string' ? NEWER : values[0];
  const [first] = anyOf ?? oneOf ?? [];
  if (first) return createNewer(first);
  const kind = Array.isArray(type) ? (type as readonly string[])[0] : type;
  if (kind === 'array') return [createNewer(items ?? {})];
  if (kind === 'object' || allOf) {
    const own = Object.entries(properties).map(([name, value]) => [name, createNewer(value)]);
    return Object.assign({ newer: NEWER }, ...(allOf ?? []).map(createNewer), Object.fromEntries(own));
  }
  if (kind === 'string') return samples[format ?? ''] ?? NEWER;
  if (kind === 'boolean') return true;
  return kind === 'null' ? null : 1;
}

const services = {
  identity: [identityRoutes, identityOperations],
  mail: [mailRoutes, mailOperations],
  crawl: [crawlRoutes, crawlOperations],
} as const;
const all = Object.entries(services).flatMap(([name, [routes, operations]]) =>
  Object.entries(routes).map(
    ([id, route]) => [name as keyof typeof services, id, route, (operations as Readonly<Record<string, Operation>>)[id]] as const,
  ),
); // oxfmt-ignore

test('API-20 each operation is sent where it is, and answered by a newer platform', async () => {
  expect(all.length).toBeGreaterThan(230);
  for (const [name, id, route, operation] of all) {
    const [method, path = '', ...flags] = route.split(' ');
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => [key, 'x'] as const);
    const type = flags.find((flag) => flag.includes('/')) ?? 'application/json';
    const schema = operation?.answers[0].schema;
    const isText = !type.endsWith('json');
    const body = schema ? createNewer(schema) : { newer: NEWER };
    let seen: unknown;
    service.onRequest((request, response) => {
      seen = `${request.method} ${request.url}`;
      response.writeHead(200, { 'content-type': type }).end(isText ? NEWER : JSON.stringify(body));
    });
    const call = platform[name].call as (operationId: string, input: object) => Promise<unknown>;
    expect([id, await call(id, { path: Object.fromEntries(names) })]).toEqual([id, isText ? NEWER : body]);
    expect(seen).toBe(`${method} ${path.replaceAll(/\{\w+\}/g, 'x')}`);
  }
});

test('API-20 a service takes values that a newer one sends during an upgrade', async () => {
  const client = createCrawlClient({ baseUrl: service.url, timeoutMs: 20_000 });
  const newer = createNewer(crawlOperations.findRun.answers[0].schema);
  service.onRequest((_request, response) => answer(response, 200, newer));
  const { data } = await client.call('findRun', { path: { runId: 'x' } }, context);
  expect([data.outcome, data.trigger]).toEqual([NEWER, NEWER]);
  await client.close();
});
