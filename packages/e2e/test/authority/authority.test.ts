import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Caller, createCallers, HOLDABLE, type Resource, toCaller } from './callers.js';
import { type Demand, demands, tools } from './rules.js';

/*
 * Who may call what: every operation of the three OpenAPI documents, and every tool, with every kind of credential, on
 * the platform as `npm start` runs it. An operation or tool without a row in rules.ts fails.
 */

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly isPublic: boolean;
  /** Whether a browser's session has to confirm it (AUTH-41). */
  readonly isDangerous: boolean;
}

interface Documented {
  readonly operationId: string;
  readonly security?: unknown[];
  readonly description?: string;
}

const root = join(import.meta.dirname, '../../../..');
const operations: Operation[] = ['identity', 'mail', 'crawl'].flatMap((service) => {
  const document = JSON.parse(readFileSync(join(root, 'services', service, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, Documented>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, security = [], description = '' }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      isPublic: security.length === 0,
      isDangerous: description.includes('CONFIRMATION_REQUIRED'),
    })),
  );
});

const platform = await createCallers();

type Verdict = 'passes' | 'is unknown' | 'is refused' | 'has to confirm';

/** Returns how the request of a caller ends by the table. */
function judge(
  caller: Caller,
  demand: Demand,
  { id, isDangerous }: Pick<Operation, 'id' | 'isDangerous'>,
): Verdict {
  const { credential, scope, isForAdmins, isForPeople } = demand;
  if (credential === 'none') return 'passes';
  if (credential === 'secret') return 'is unknown';
  if (credential === 'optional' && caller.kind === 'none') return 'passes';
  const isOfTools = id === 'callTools' || credential === 'optional';
  const isForOthers = caller.isForTools === true && !isOfTools;
  // An application's token is for the REST endpoints, unless it asks for the tools.
  const isForRest = caller.kind === 'oauth' && caller.isForTools !== true && isOfTools;
  if (!caller.isActive || isForOthers || isForRest) return 'is unknown';
  const isSession = caller.kind === 'session';
  if (credential === 'session' && !isSession) return 'is refused';
  if (credential === 'token' && isSession) return 'is refused';
  if (credential === 'pat' && caller.kind !== 'token') return 'is refused';
  if (scope !== undefined && !isSession && !caller.scopes.has(scope)) return 'is refused';
  if (isForAdmins === true && caller.role !== 'admin') return 'is refused';
  if (isForPeople === true && !caller.isPerson) return 'is refused';
  return caller.isUnconfirmed === true && isDangerous ? 'has to confirm' : 'passes';
}

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
/** Fills in the parameters of a path; nothing that it names exists, so that no allowed call changes anything. */
const fill = (path: string): string =>
  path
    .replace('{connector}', 'nothing_1')
    .replace('{domain}', 'nothing.example')
    .replaceAll(/\{\w+\}/g, UNKNOWN_ID);

/** The body that makes an operation dangerous that is not always. */
const toDangerousBody = (id: string): object => (id === 'changeUser' ? { role: 'member' } : {});

async function observe(
  { id, method, path, isDangerous }: Operation,
  { bearer: token, kind }: Caller,
): Promise<Verdict> {
  // Bodies are refused for their type once the caller has passed; only what a browser confirms is decided later.
  const payload =
    kind === 'session' && isDangerous
      ? { body: toDangerousBody(id) }
      : { raw: 'x', headers: { 'content-type': 'text/plain' } };
  const answer = await platform.call(method, fill(path), { token, ...(method === 'GET' ? {} : payload) });
  const code = (answer.body?.error?.code ?? '') as string;
  if (answer.status >= 500) throw new Error(`${id} answered ${answer.status}: ${answer.text}`);
  if (answer.status === 401) return 'is unknown';
  if (code === 'CONFIRMATION_REQUIRED') return 'has to confirm';
  return answer.status === 403 || code === 'ADMIN_REQUIRED' ? 'is refused' : 'passes';
}

test('every operation has a row, and every row an operation', () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual([...demands.keys()].toSorted());
  for (const { id, isPublic } of operations)
    expect([id, ['none', 'secret'].includes(demands.get(id)?.credential ?? '')]).toEqual([id, isPublic]);
});

test.each(operations)('$id is open to those callers that the table names', async (operation) => {
  const demand = demands.get(operation.id) as Demand;
  const observed: Record<string, Verdict> = {};
  const expected: Record<string, Verdict> = {};
  for (const caller of [...platform.callers, ...(await withAndWithout(demand.scope))]) {
    observed[caller.name] = await observe(operation, caller);
    expected[caller.name] = judge(caller, demand, operation);
  }
  expect(observed).toEqual(expected);
});

const made = new Map<string, Caller[]>();
/** Returns two tokens of the administrator: one with the scope alone, and one with every other scope. */
async function withAndWithout(scope: string | undefined): Promise<readonly Caller[]> {
  if (scope === undefined) return [];
  const known = made.get(scope);
  if (known) return known;
  const callers: Caller[] = [];
  for (const [name, scopes] of [
    [`a token with ${scope} alone`, [scope]],
    [`a token with every scope but ${scope}`, HOLDABLE.admin.filter((one) => one !== scope)],
  ] as const) {
    const { accessToken } = await platform.createToken(platform.admin, scopes);
    callers.push(toCaller(name, accessToken, { kind: 'token', scopes }));
  }
  made.set(scope, callers);
  return callers;
}

const nameIn = (path: string, ids: Resource['ids']): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => ids[parameter] as string);

/**
 * Each organisation has its own connectors and instances of these names, or the name of a public server; and a hook is
 * rung without saying whose it is.
 */
const namesOwn = ({ id, path }: Operation): boolean =>
  id === 'ringHook' ||
  id === 'saveInstance' ||
  id === 'removeInstance' ||
  id === 'getRegistryServer' ||
  (path.includes('{connector}') && !/\{runId\}|\{hookId\}|\{instance\}$/.test(path));

/** Bodies for operations that refuse an empty one before they look up what the path names. */
const VALID_BODIES: Readonly<Record<string, object>> = {
  changeUser: { role: 'member' },
  changeServiceAccount: { name: 'x' },
  changeGroup: { name: 'x' },
  addGroupMembers: { members: [UNKNOWN_ID] },
  removeGroupMembers: { members: [UNKNOWN_ID] },
  changeOAuthApplication: { name: 'x' },
  editOwnToken: { name: 'x' },
  createServiceAccountToken: { name: 'x', scopes: ['crawl:read'] },
  changeDestination: { isEnabled: false },
  changeMcpServer: { isEnabled: false },
  storeOwnMcpCredential: { value: 'x' },
  giveMcpCredential: { value: 'x' },
  decideOnMcpTools: { tools: [{ name: 'search', scope: 'none' }] },
  renamePasskey: { name: 'x' },
  reportWork: { lease: 'x' },
  finishWork: { lease: 'x', state: 'failed', reason: 'x' },
};

const naming = operations.filter((operation) => operation.path.includes('{') && !namesOwn(operation));

test.each(naming)('$id finds nothing of another organisation', async ({ id, method, path }) => {
  const resources = platform.resources.filter((resource) => path.startsWith(resource.path));
  expect(resources).not.toEqual([]);
  const body = VALID_BODIES[id] ?? {};
  const options = { token: platform.otherAdmin, ...(method !== 'GET' && { body }) };
  for (const { ids } of resources) {
    const named = nameIn(path, ids);
    expect([named, (await platform.call(method, named, options)).status]).toEqual([named, 404]);
  }
});

/** A member's tokens are nobody else's to read, and no tool of the server is known. */
const isReadByAdmin = (operation: Operation): boolean =>
  operation.method === 'GET' && !/\{(?:tokenId|tool)\}/.test(operation.path);

test('an administrator finds all of that in the own organisation', async () => {
  for (const { path } of naming.filter(isReadByAdmin))
    for (const { ids } of platform.resources.filter((resource) => path.startsWith(resource.path))) {
      const named = nameIn(path, ids);
      const { status } = await platform.call('GET', named, { token: platform.admin });
      expect([named, status]).toEqual([named, 200]);
    }
});

interface RpcAnswer {
  readonly error?: object;
  readonly result?: { readonly tools?: readonly { readonly name: string }[]; readonly isError?: boolean };
}

async function ask({ bearer: token }: Caller, method: string, params: object = {}): Promise<RpcAnswer> {
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
  const message = { jsonrpc: '2.0', id: 1, method, params };
  const { text } = await platform.call('POST', '/mcp', { token, body: message, headers });
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as RpcAnswer;
}

test('each caller sees and may call the tools whose operations it may call, and no others', async () => {
  for (const caller of platform.callers.filter(
    ({ isActive, kind, isForTools }) => isActive && (kind !== 'oauth' || isForTools),
  )) {
    const isAllowed = (tool: string): boolean => {
      const row = tools[tool] as string | Demand;
      const demand = typeof row === 'string' ? (demands.get(row) as Demand) : row;
      return judge({ ...caller, isForTools: false }, demand, { id: '', isDangerous: false }) === 'passes';
    };
    const { result } = await ask(caller, 'tools/list');
    const listed = (result?.tools ?? []).map(({ name }) => name);
    expect([caller.name, listed]).toEqual([caller.name, Object.keys(tools).filter(isAllowed)]);
    for (const name of Object.keys(tools).filter((tool) => !isAllowed(tool))) {
      const { error, result: called } = await ask(caller, 'tools/call', { name, arguments: {} });
      expect([caller.name, name, error !== undefined || called?.isError]).toEqual([caller.name, name, true]);
    }
  }
});
