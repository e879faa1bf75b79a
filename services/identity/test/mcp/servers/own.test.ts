import { createSecretBox, encryptionKeys, reencryptAll } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { sealedColumns } from '../../../src/commands/sealed-columns.js';
import { ownSecretContext } from '../../../src/mcp/servers/upstream/credentials.js';
import { encryptionKeys as oldKeys } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { ALLOW_LOCAL, createAgent, createMounts, useMounts } from './platform.js';
import { type Seen, startStateful } from './stateful-server.js';
import { searchTool } from './upstream.js';

/* Servers at which each member has a secret of their own. */

const site = await useMounts({ MCP_SERVER_CALLS: '2000' });
const { identity, session, mounts } = site;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const call = (method: string, path: string, token = session, body?: object) =>
  identity.call(method, `/api/v1/mcp-servers${path}`, { token, ...(body && { body }) });
const connect = (id: string, value: string, token: string, fields: object = {}) =>
  call('PUT', `/${id}/my-credential`, token, { value, ...fields });

async function createPerson(role: 'admin' | 'member' = 'member') {
  const member = await identity.createMember(session, role);
  return { ...member, agent: createAgent(identity, member.session) };
}
const personal = { kind: 'personal', header: 'x-api-key' };
const mount = (fields: object = {}, url = site.upstream.url) =>
  mounts.mountInEffect(
    url,
    { search: 'kb:read' },
    { credential: { ...personal, value: 'for-lists', ...fields } },
  );

/** Returns what the server got in the header with each request of a method. */
const received = (method = 'tools/call', header = 'x-api-key') =>
  site.upstream.received
    .filter(({ message }) => message.method === method)
    .map(({ headers }) => headers[header]);
const findStored = async (serverId: string) =>
  (await identity.db.query<{ account_id: string; secret_sealed: string }>(
    'select account_id, secret_sealed from mcp_credentials where server_id = $1 order by connected_at', [serverId],
  )).rows; // oxfmt-ignore
const findFacts = async (accountId: string) =>
  (await identity.db.query<{ type: string; action: string; detail: object; actor: string | null }>(
    `select event ->> 'type' as type, event -> 'data' ->> 'action' as action, event -> 'data' -> 'detail' as detail,
       event -> 'data' ->> 'actorId' as actor
     from outbox.events where event -> 'data' ->> 'subjectId' = $1 and event -> 'data' ->> 'action' like 'mcp%'
     order by event ->> 'time', event ->> 'id'`, [accountId],
  )).rows; // oxfmt-ignore
/** Has the server answer 401 to everybody with this secret. */
function refuse(secrets: ReadonlySet<string>) {
  return startStateful(({ 'x-api-key': key }) =>
    typeof key === 'string' && !secrets.has(key) ? key : undefined,
  );
}
const link = (id: string) => `http://127.0.0.1:8080/account/services/${id}`;

test('MCP-50 a member stores a secret of their own, is called with it, and nobody sees it again', async () => {
  const id = await mount();
  const [ada, ben] = [await createPerson(), await createPerson()];
  const [{ status, text, body }] = [await connect(id, 'key-of-ada', ada.session)];
  expect([status, body.server]).toEqual([200, {
    id, name: 'wiki', origin: new URL(site.upstream.url).origin, credential: { kind: 'personal', hint: null, link: null },
    connection: { connectedAt: expect.any(String), lastUsedAt: null, refusedAt: null },
  }]);
  expect(text).not.toContain('key-of-ada');
  await connect(id, 'key-of-ben', ben.session);
  for (const { agent } of [ada, ben, ada]) expect(await agent.getText()).toBe('found a');
  expect(received()).toEqual(['key-of-ada', 'key-of-ben', 'key-of-ada']);
  for (const { headers } of site.upstream.received)
    for (const token of [session, ada.session, ben.session]) expect(JSON.stringify(headers)).not.toContain(token);
  // Administrators see who has one.
  const listed = await call('GET', `/${id}/credentials`);
  expect(listed.body.data.map(({ account, lastUsedAt }: { account: object; lastUsedAt: string }) => [account, lastUsedAt])).toEqual(
    [ben, ada].map(({ id: account, email }) => [{ id: account, kind: 'member', name: 'Ada Member', email }, expect.any(String)]),
  );
  const seen = [listed, await call('GET', `/${id}`), await call('GET', '/mine', ada.session), await call('GET', `/${id}/my-credential`, ada.session)];
  for (const answer of seen) expect([answer.status, answer.text.includes('key-of')]).toEqual([200, false]);
  const stored = await findStored(id);
  expect(stored.map(({ account_id: account }) => account)).toEqual([ada.id, ben.id]);
  expect(JSON.stringify(stored)).not.toContain('key-of');
  expect(identity.logged()).not.toContain('key-of');
}); // oxfmt-ignore

test('MCP-50 a secret is sealed for its server and its member: copied to another row, it opens nowhere', async () => {
  const id = await mount();
  const [ada, ben] = [await createPerson(), await createPerson()];
  await connect(id, 'key-of-ada', ada.session);
  await connect(id, 'key-of-ben', ben.session);
  await identity.db.query(
    `update mcp_credentials set secret_sealed = (select secret_sealed from mcp_credentials where account_id = $1)
     where account_id = $2`,
    [ada.id, ben.id],
  );
  expect((await ben.agent.call('wiki__search', { query: 'a' })).result.isError).toBe(true);
  expect(received()).toEqual([]);
});

test('MCP-50 re-encryption covers the secrets of accounts', async () => {
  const id = await mount();
  const ada = await createPerson();
  await connect(id, 'key-of-ada', ada.session);
  const parse = (keys: string) => createSecretBox(encryptionKeys.parse(keys) ?? []);
  const fresh = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
  const counts = await reencryptAll(identity.db, parse(`${fresh},${oldKeys}`), sealedColumns);
  expect(counts['own credentials at MCP servers']).toBe(1);
  const [stored] = await findStored(id);
  expect(parse(fresh).open(stored?.secret_sealed ?? '', ownSecretContext(id, ada.id))).toBe('key-of-ada');
  // The service of this test has the old key alone.
  await reencryptAll(identity.db, parse(`${oldKeys},${fresh}`), sealedColumns);
  expect(await ada.agent.getText()).toBe('found a');
});

test('MCP-50 a service that has lost the key of such secrets says so when it starts', async () => {
  const id = await mount();
  const ada = await createPerson();
  await connect(id, 'key-of-ada', ada.session);
  await identity.db.query(
    `update mcp_credentials set secret_sealed = replace(secret_sealed, 'v1.k1.', 'v1.lost.') where account_id = $1`,
    [ada.id],
  );
  const replica = await startReplica(identity.databaseUrl, ALLOW_LOCAL);
  try {
    const report = await waitFor(() => /.*ENCRYPTION_KEYS lack a key.*/.exec(replica.logged())?.[0], {
      what: 'the report of the missing key',
    });
    expect(JSON.parse(report)).toMatchObject({ level: 'error', key: 'lost', values: 1 });
  } finally {
    await replica.close();
  }
});

test('MCP-50 the administrator chooses the header and what stands before the secret, and tells where to get one', async () => {
  const credential = { kind: 'personal', hint: 'Settings, API keys', link: 'https://wiki.example.com/keys' };
  const id = await mounts.mount(site.upstream.url, { credential });
  expect((await mounts.get(id)).credential).toEqual({
    kind: 'personal', header: 'authorization', prefix: 'Bearer ', hint: 'Settings, API keys', link: 'https://wiki.example.com/keys',
    hasListingSecret: false, claims: [], groupValues: null, clientId: null, scope: null,
  });
  const ada = await createPerson();
  await connect(id, 'key-of-ada', ada.session);
  const [own] = (await call('GET', '/mine', ada.session)).body.data;
  expect(own.credential).toEqual(credential);
  expect((await call('POST', `/${id}/my-credential/test`, ada.session)).body).toMatchObject({ isUsable: true, tools: 2 });
  expect(new Set(received('tools/list', 'authorization'))).toEqual(new Set(['Bearer key-of-ada']));
  for (const wrong of [{ link: 'http://wiki.example.com' }, { link: 'javascript:alert(1)' }, { prefix: 'a\nb' }, { header: 'cookie' }])
    expect((await mounts.call('PATCH', `/${id}`, { credential: { kind: 'personal', ...wrong } })).status).toBe(400);
}); // oxfmt-ignore

test('MCP-51 a call without a credential is a result that says where to get one, in every revision', async () => {
  const id = await mount();
  const { agent, session: own } = await createPerson();
  expect(await agent.listNames()).toContain('wiki__search');
  const text = `The server wiki is used with an account of your own there, which you have not connected yet; nothing was done. Open ${link(id)}, then try again.`;
  for (const { result } of [await agent.call('wiki__search', { query: 'a' }), await agent.callModern('wiki__search', { query: 'a' })])
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
  // A client that can show a link is asked to, and calls again.
  const capable = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
  const request = { name: 'wiki__search', arguments: { query: 'a' }, _meta: capable };
  const callModern = async (fields: object = {}) => (await agent.modern('tools/call', { ...request, ...fields })).body.result;
  expect(await callModern()).toMatchObject({
    resultType: 'input_required',
    inputRequests: { open: { method: 'elicitation/create', params: { mode: 'url', url: link(id), message: expect.stringContaining('not connected') } } },
  });
  const again = { inputResponses: { open: { action: 'accept' } } };
  expect(await callModern(again)).toMatchObject({ isError: true, resultType: 'complete' });
  await connect(id, 'key', own);
  expect(await callModern(again)).toMatchObject({ content: [{ text: 'found a' }], resultType: 'complete' });
  expect(received()).toEqual(['key']);
}); // oxfmt-ignore

test('MCP-52 the tools are listed with the secret for that, which nobody calls with', async () => {
  const id = await mount();
  expect(new Set(received('tools/list'))).toEqual(new Set(['for-lists']));
  const { agent } = await createPerson();
  await agent.call('wiki__search', { query: 'a' });
  expect(received()).toEqual([]);
  expect(await mounts.test(id)).toMatchObject({ isUsable: true });
  // It stays until another is given, or it is deleted.
  const change = async (fields: object) =>
    (await mounts.call('PATCH', `/${id}`, { credential: { ...personal, ...fields } })).body.server.credential
      .hasListingSecret;
  expect([
    await change({ hint: 'a' }),
    await change({ value: null }),
    await change({ value: 'again' }),
  ]).toEqual([true, false, true]);
  // A secret is never sent to another origin.
  const url = site.upstream.url.replace('127.0.0.1', '127.0.0.2');
  expect((await mounts.call('PATCH', `/${id}`, { url })).status).toBe(400);
});

test('MCP-52 without such a secret, they are listed with the own credential of an administrator, and of nobody else', async () => {
  const id = await mounts.mount(site.upstream.url, { credential: personal });
  const member = await createPerson();
  await connect(id, 'key-of-member', member.session);
  expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault: 'no_credential' });
  expect(await mounts.refresh(id)).toMatchObject({
    status: 502,
    body: { error: { code: 'REFRESH_FAILED' } },
  });
  expect((await mounts.get(id)).refreshFault).toBe('no_credential');
  expect(site.upstream.received).toEqual([]);
  const [ada, ben] = [await createPerson('admin'), await createPerson('admin')];
  await connect(id, 'key-of-ada', ada.session);
  expect((await createMounts(identity, ada.session).refresh(id)).status).toBe(200);
  // Another administrator, and the platform by itself, list with the same credential.
  expect((await createMounts(identity, ben.session).refresh(id)).status).toBe(200);
  expect((await createMounts(identity, ben.session).test(id)).fault).toBe('no_credential');
  expect(new Set(received('tools/list'))).toEqual(new Set(['key-of-ada']));
  await mounts.approveAll(id, { search: 'kb:read' });
  expect(await member.agent.getText()).toBe('found a');
  expect(received()).toEqual(['key-of-member']);
  // Nobody who is no administrator decides what is offered to the others.
  await identity.call('PATCH', `/api/v1/users/${ada.id}`, { token: session, body: { role: 'member' } });
  expect((await mounts.refresh(id)).status).toBe(502);
});

test('MCP-53 what a server lists for a member is not offered: a call follows what was approved', async () => {
  const id = await mount();
  const { agent, session: own } = await createPerson();
  await connect(id, 'key', own);
  site.upstream.tools = [{ ...searchTool, description: 'Other words for a person.' }];
  await call('POST', `/${id}/my-credential/test`, own);
  expect(await agent.listMounted()).toMatchObject([{ description: searchTool.description }]);
  expect(await agent.getText()).toBe('found a');
});

test('MCP-53 mixed calls of 20 people: each answer is that of the identity which the server saw, in a session of its own', async () => {
  const server = await startStateful(({ 'x-api-key': key }) => String(key));
  closing.push(server.close);
  const id = await mount({}, server.url);
  const people = await Promise.all(Array.from({ length: 20 }, () => createPerson()));
  const secrets = new Map<string, Set<string>>();
  const replace = async ({ id: account, session: own }: (typeof people)[number], value: string) => {
    // While a secret is replaced, calls go out with either.
    secrets.set(account, new Set([...(secrets.get(account) ?? []), value]));
    await connect(id, value, own);
  };
  for (const person of people) await replace(person, `first ${person.id}`);
  const before = server.countSessions();
  let mixed = 0;
  const callOnce = async (index: number) => {
    const person = people[(index * 7) % people.length] as (typeof people)[number];
    if (index % 97 === 0) await replace(person, `${index} ${person.id}`);
    const text = await person.agent.getText();
    const { begun, caller } = JSON.parse(text) as Seen<string>;
    const own = secrets.get(person.id);
    if (begun !== caller || !own?.has(caller)) mixed += 1;
  };
  const workers = 25;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let index = worker; index < 200; index += workers) await callOnce(index);
    }),
  );
  expect(mixed).toBe(0);
  // A session for each secret, and not for each call.
  expect(server.countSessions() - before).toBeLessThanOrEqual(20 + 3);
});

test('MCP-54 a credential ends at once: by its member, an administrator, another origin or kind, and the removal of either', async () => {
  const id = await mount();
  const [ada, ben, cleo] = [await createPerson(), await createPerson(), await createPerson()];
  const connectAll = async () => {
    for (const { session: own } of [ada, ben, cleo]) await connect(id, 'key', own);
  };
  const findAccounts = async () => (await findStored(id)).map(({ account_id: account }) => account);
  const isRefused = async ({ agent }: typeof ada) => (await agent.call('wiki__search', { query: 'a' })).result.isError === true;
  await connectAll();
  expect(await isRefused(ada)).toBe(false);
  expect((await call('DELETE', `/${id}/my-credential`, ada.session)).status).toBe(200);
  expect((await call('DELETE', `/${id}/my-credential`, ada.session)).status).toBe(404);
  expect(await isRefused(ada)).toBe(true);
  expect((await call('DELETE', `/${id}/credentials/${ben.id}`)).status).toBe(200);
  expect(await isRefused(ben)).toBe(true);
  expect(await findAccounts()).toEqual([cleo.id]);
  expect((await identity.call('DELETE', `/api/v1/users/${cleo.id}`, { token: session })).status).toBe(200);
  expect(await findAccounts()).toEqual([]);
  await connect(id, 'key', ada.session);
  // Another path of the same server changes nothing; another origin, or another kind of credential, everything.
  await mounts.call('PATCH', `/${id}`, { url: `${site.upstream.url}?a` });
  expect(await findAccounts()).toEqual([ada.id]);
  await mounts.call('PATCH', `/${id}`, { url: 'http://127.0.0.2:9/mcp', credential: { ...personal, value: 'for-lists' } });
  expect(await findAccounts()).toEqual([]);
  const moved = await connect(id, 'key', ada.session, { origin: new URL(site.upstream.url).origin });
  expect([moved.status, moved.body.error.code]).toEqual([409, 'SERVER_MOVED']);
  expect((await connect(id, 'key', ada.session, { origin: 'http://127.0.0.2:9' })).status).toBe(200);
  await mounts.call('PATCH', `/${id}`, { credential: { kind: 'none' } });
  expect(await findAccounts()).toEqual([]);
  expect((await connect(id, 'key', ada.session)).status).toBe(404);
  const { rows } = await identity.db.query(
    `select detail ->> 'disconnected' as disconnected from audit_entries where subject_id = $1 and detail ? 'disconnected' order by id`, [id],
  );
  expect(rows).toEqual([{ disconnected: '1' }, { disconnected: '1' }]);
}); // oxfmt-ignore

test('MCP-55 a refused credential is noted once, its member is told, and the others are not stopped by it', async () => {
  const refused = new Set(['old']);
  const server = await refuse(refused);
  closing.push(server.close);
  const id = await mount({}, server.url);
  const [ada, ben] = [await createPerson(), await createPerson()];
  await connect(id, 'old', ada.session);
  await connect(id, 'good', ben.session);
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const { result } = await ada.agent.call('wiki__search', { query: 'a' });
    expect(result.content[0].text).toBe(
      `The server wiki does not accept your account there any more; nothing was done. Open ${link(id)}, then try again.`,
    );
    expect(JSON.parse(await ben.agent.getText())).toMatchObject({ caller: 'good' });
  }
  const refusedAt = async () => (await call('GET', `/${id}/my-credential`, ada.session)).body.server.connection.refusedAt;
  expect(await refusedAt()).toEqual(expect.any(String));
  // It is accepted again without being stored again.
  refused.clear();
  expect(JSON.parse(await ada.agent.getText())).toMatchObject({ caller: 'old' });
  expect(await refusedAt()).toBe(null);
  await call('DELETE', `/${id}/my-credential`, ada.session);
  const detail = { server: 'wiki', serverId: id };
  expect(await findFacts(ada.id)).toEqual([
    { type: 'mcp.connected', action: 'mcp_credential.stored', actor: ada.id, detail },
    { type: 'mcp.connection_failing', action: 'mcp_credential.refused', actor: null, detail },
    { type: 'mcp.disconnected', action: 'mcp_credential.removed', actor: ada.id, detail },
  ]);
}); // oxfmt-ignore

test("MCP-55 one member's failing calls do not open the circuit for another", async () => {
  const server = await startStateful(({ 'x-api-key': key }) => {
    if (key === 'ada') throw new Error('the connection is broken off');
    return String(key);
  });
  closing.push(server.close);
  const id = await mount({}, server.url);
  const [ada, ben] = [await createPerson(), await createPerson()];
  await connect(id, 'ada', ada.session);
  await connect(id, 'ben', ben.session);
  for (let attempt = 0; attempt < 5; attempt += 1) await ada.agent.call('wiki__search', { query: 'a' });
  expect(await ada.agent.getText()).toContain('is left alone for a while');
  expect(JSON.parse(await ben.agent.getText())).toMatchObject({ caller: 'ben' });
});

test('MCP-56 a credential is stored and deleted in a session that was confirmed recently, never with a token', async () => {
  const id = await mount();
  const ada = await createPerson();
  const { accessToken } = await identity.createToken(ada.session, { scopes: ['kb:read', 'user:read', 'pat:write'] });
  for (const method of ['PUT', 'DELETE'] as const)
    expect((await call(method, `/${id}/my-credential`, accessToken, method === 'PUT' ? { value: 'a' } : undefined)).status).toBe(403);
  identity.advance(11 * 60_000);
  for (const method of ['PUT', 'DELETE'] as const) {
    const { status, body } = await call(method, `/${id}/my-credential`, ada.session, method === 'PUT' ? { value: 'a' } : undefined);
    expect([status, body.error.code]).toEqual([403, 'CONFIRMATION_REQUIRED']);
  }
  await identity.call('POST', '/api/v1/sessions/confirm', { token: ada.session, body: { currentPassword: ada.password } });
  expect((await connect(id, 'a', ada.session)).status).toBe(200);
}); // oxfmt-ignore

test('MCP-56 a server that is not for a member, or of another organisation, is one that does not exist', async () => {
  const id = await mount();
  const admin = await identity.login();
  const ada = await createPerson();
  const other = await identity.createOrganisation('other-own@example.com');
  const { body } = await identity.call('POST', '/api/v1/groups', { token: admin, body: { name: `Board ${id}` } });
  await createMounts(identity, admin).call('PATCH', `/${id}`, { allowedGroups: [body.group.id] });
  for (const token of [ada.session, other.session]) {
    expect((await call('GET', '/mine', token)).body.data).toEqual([]);
    for (const [method, path, sent] of [
      ['GET', `/${id}/my-credential`], ['PUT', `/${id}/my-credential`, { value: 'a' }], ['DELETE', `/${id}/my-credential`],
      ['POST', `/${id}/my-credential/test`],
    ] as const)
      expect([method, (await call(method, path, token, sent)).status]).toEqual([method, 404]);
  }
  for (const [method, path] of [['GET', `/${id}/credentials`], ['DELETE', `/${id}/credentials/${ada.id}`]] as const)
    expect((await call(method, path, other.session)).status).toBe(404);
  await identity.call('PUT', `/api/v1/groups/${body.group.id}/members/${ada.id}`, { token: admin });
  expect((await call('GET', '/mine', ada.session)).body.data).toMatchObject([{ id, connection: null }]);
  expect((await connect(id, 'a', ada.session)).status).toBe(200);
}); // oxfmt-ignore

test('MCP-57 an administrator gives a service account a credential of its own, and a member none', async () => {
  const admin = await identity.login();
  const id = await createMounts(identity, admin).mountInEffect(site.upstream.url, { search: 'kb:read' }, { credential: { ...personal, value: 'for-lists' } });
  const { body } = await identity.call('POST', '/api/v1/service-accounts', { token: admin, body: { name: `Robot ${id}`, role: 'member' } });
  const robot = body.serviceAccount.id as string;
  const ada = await createPerson();
  expect((await call('PUT', `/${id}/credentials/${ada.id}`, admin, { value: 'a' })).status).toBe(404);
  expect((await call('PUT', `/${id}/credentials/${robot}`, admin, { value: 'key-of-robot' })).status).toBe(200);
  expect((await call('GET', `/${id}/credentials`, admin)).body.data).toMatchObject([{ account: { id: robot, kind: 'service_account', email: null } }]);
  expect((await findFacts(robot)).map(({ type }) => type)).toEqual(['mcp.connected']);
  const issued = await identity.call('POST', `/api/v1/service-accounts/${robot}/tokens`, { token: admin, body: { name: 'a', scopes: ['kb:read'] } });
  const agent = createAgent(identity, issued.body.token.accessToken as string);
  expect(await agent.getText()).toBe('found a');
  expect(received()).toEqual(['key-of-robot']);
  expect((await call('DELETE', `/${id}/credentials/${robot}`, admin)).status).toBe(200);
  expect(await agent.getText()).toContain('this service account has none');
  await call('PUT', `/${id}/credentials/${robot}`, admin, { value: 'key-of-robot' });
  expect((await identity.call('DELETE', `/api/v1/service-accounts/${robot}`, { token: admin })).status).toBe(200);
  expect(await findStored(id)).toEqual([]);
}); // oxfmt-ignore
