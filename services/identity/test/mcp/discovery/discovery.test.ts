import { useMounts } from '../servers/use-mounts.js';

const site = useMounts();
const get = (path: string, token?: string) =>
  site.identity.call('GET', path, token === undefined ? {} : { token });
const listNames = async (token?: string, query = '') =>
  ((await get(`/v0.1/servers${query}`, token)).body.servers as { server: { name: string } }[]).map(
    ({ server }) => server.name,
  );

test('MCP-21 the catalog of the host leads to the server card, and the card to the endpoint, for pages of any origin', async () => {
  const catalog = await get('/.well-known/ai-catalog.json');
  expect([catalog.status, catalog.headers.get('content-type')]).toEqual([200, 'application/ai-catalog+json']);
  const { specVersion, entries } = JSON.parse(catalog.text);
  expect([specVersion, entries]).toEqual([
    '1.0',
    [
      {
        identifier: expect.stringMatching(/^urn:air:[\w.]+:mcp:workspace-knowledge-platform$/),
        displayName: 'Workspace Knowledge Platform',
        type: 'application/mcp-server-card+json',
        url: expect.stringMatching(/\/mcp\/server-card$/),
      },
    ],
  ]);
  const path = new URL(entries[0].url as string).pathname;
  const card = await get(path);
  expect([card.status, card.headers.get('content-type')]).toEqual([200, entries[0].type]);
  expect(JSON.parse(card.text)).toMatchObject({
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: expect.stringMatching(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    version: expect.any(String),
    remotes: [
      {
        type: 'streamable-http',
        url: expect.stringMatching(/\/mcp$/),
        supportedProtocolVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
      },
    ],
  });
  for (const answer of [catalog, card]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
  }
});

test('MCP-21 the registry lists the endpoint to everybody, and mounted servers to those who can call a tool of them', async () => {
  await site.mounts.mountInEffect(site.upstream.url, { search: 'kb:read', save: 'semantic:write' });
  const reader = await site.identity.createToken(site.session, { scopes: ['kb:read'] });
  const stranger = await site.identity.createToken(site.session, { scopes: ['user:read'] });
  const other = await site.identity.createOrganisation('registry@example.com');
  const [own = ''] = await listNames();
  const mounted = `${own}.wiki`;
  expect(await listNames()).toEqual([own]);
  expect(await listNames(stranger.accessToken)).toEqual([own]);
  expect(await listNames(other.session)).toEqual([own]);
  for (const token of [reader.accessToken, site.session])
    expect(await listNames(token)).toEqual([own, mounted]);

  const version = (name: string, token?: string, which = 'latest') =>
    get(`/v0.1/servers/${encodeURIComponent(name)}/versions/${which}`, token);
  const entry = await version(mounted, reader.accessToken);
  expect([entry.status, entry.body.server]).toMatchObject([
    200,
    {
      name: mounted,
      title: 'wiki',
      remotes: [
        {
          type: 'streamable-http',
          url: expect.stringMatching(/\/mcp$/),
          headers: [{ name: 'X-MCP-Tools', value: 'wiki__*' }],
        },
      ],
    },
  ]);
  expect(entry.text).not.toContain(new URL(site.upstream.url).host);
  const { version: number } = entry.body.server;
  expect((await version(mounted, reader.accessToken, number as string)).body).toEqual(entry.body);
  for (const missing of [
    await version(mounted),
    await version(mounted, stranger.accessToken),
    await version(mounted, reader.accessToken, '0.0.0-none'),
    await version('com.example/other'),
  ])
    expect(missing.status).toBe(404);
});

test('MCP-21 the registry pages, searches, answers preflights, and refuses a credential that is not valid', async () => {
  await site.mounts.mountInEffect(site.upstream.url, { search: 'kb:read', save: 'semantic:write' });
  const first = await get('/v0.1/servers?limit=1', site.session);
  const { count, nextCursor } = first.body.metadata;
  expect([first.body.servers.length, count]).toEqual([1, 1]);
  const second = await get(`/v0.1/servers?cursor=${encodeURIComponent(nextCursor as string)}`, site.session);
  expect([second.body.servers.length, second.body.metadata.nextCursor]).toEqual([1, undefined]);
  expect(await listNames(site.session, '?search=wiki&version=latest&include_deleted=false')).toHaveLength(1);
  expect((await get('/v0.1/servers?limit=0')).status).toBe(400);
  const refused = await get('/v0.1/servers', 'pat_nothing');
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(first.headers.get('cache-control')).toBe('no-store');
  const preflight = await site.identity.call('OPTIONS', '/v0.1/servers');
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
    204,
    'Authorization, Content-Type',
  ]);
});
