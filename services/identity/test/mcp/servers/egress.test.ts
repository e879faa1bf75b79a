import { issueCertificate } from '@platform/testing';
import { type LookupAddress } from 'node:dns';
import { fetch } from 'undici';
import { createEgress, parseTarget, type Target } from '@platform/service-kit';
import { toUpstreamFault } from '../../../src/base/egress/faults.js';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { createAgent, createMounts } from './platform.js';
import { startHttp, startUpstream } from './upstream.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Creates the wall with a resolver that gives these answers in turn, and counts the connections to a listener. */
async function createWall(allowed: string[], answers: string[] = []) {
  let requests = 0;
  const listener = await startHttp((_request, response) => {
    requests += 1;
    response.end('reached');
  });
  closing.push(listener.close);
  const resolved: string[] = [];
  const egress = createEgress(
    allowed.map((text) => parseTarget(text.replace('PORT', String(listener.port))) as Target),
    { maxAnswerBytes: 1_000, maxConnections: 8, timeoutMs: 2_000 },
    async (host) => {
      resolved.push(host);
      const address = answers.length > 1 ? (answers.shift() ?? '') : (answers[0] ?? '');
      return [{ address, family: 4 }] satisfies LookupAddress[];
    },
  );
  closing.push(() => egress.agent.destroy());
  const get = (host: string, protocol = 'http') =>
    fetch(`${protocol}://${host}:${listener.port}/`, {
      dispatcher: egress.agent,
      headers: { connection: 'close' },
    }).then(
      (response) => response.text(),
      (error: unknown) => toUpstreamFault(error).kind,
    );
  return { get, egress, resolved, port: listener.port, countRequests: () => requests };
}

test('private and loopback addresses are denied, also when names resolve to them', async () => {
  const wall = await createWall([], ['127.0.0.1']);
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254', '0.0.0.0', '2130706433', '0x7f.1'])
    for (const protocol of ['http', 'https'])
      expect([host, protocol, await wall.get(host, protocol)]).toEqual([host, protocol, 'target_denied']);
  expect(wall.resolved).toEqual([]);
  expect(await wall.get('kb.example.com', 'https')).toBe('target_denied');
  expect(wall.resolved).toEqual(['kb.example.com']);
  expect(wall.countRequests()).toBe(0);
}); // prettier-ignore

test('a public address is denied without TLS', async () => {
  const wall = await createWall([], ['9.9.9.9']);
  expect(await wall.get('kb.example.com')).toBe('target_denied');
  expect(await wall.get('9.9.9.9')).toBe('target_denied');
});

test('a name that later resolves to another address is judged by the connected address', async () => {
  // Allowed by its address, which the second answer is not.
  const wall = await createWall(['127.0.0.1/32:PORT'], ['127.0.0.1', '127.0.0.2']);
  expect(await wall.get('kb.example.com')).toBe('reached');
  expect(await wall.get('kb.example.com')).toBe('target_denied');
  // One lookup for each connection: nothing is resolved between the judgement and the connection.
  expect([wall.resolved.length, wall.countRequests()]).toEqual([2, 1]);
});

describe('a mounted server', () => {
  let identity: IdentityUnderTest;
  let mounts: ReturnType<typeof createMounts>;
  const start = async (allowed: string) => {
    identity = await startIdentity({ environment: { MCP_SERVER_ALLOWED_TARGETS: allowed } });
    closing.push(() => identity.close());
    mounts = createMounts(identity, await identity.login());
  };

  test('is refused when its URL could never be reached', async () => {
    await start('');
    for (const url of [
      'http://kb.example.com/mcp', 'https://127.0.0.1/mcp', 'https://10.1.2.3/mcp', 'https://[::1]/mcp', 'ftp://kb.example.com/',
      'https://user:secret@kb.example.com/mcp', 'https://kb.example.com/mcp#part', 'kb.example.com', 'https://2130706433/',
    ]) {
      const { status, body } = await mounts.call('POST', '', { name: 'wiki', url });
      expect([url, status, body.error?.details?.[0]?.field]).toEqual([url, 400, 'url']);
    }
    expect((await mounts.call('POST', '', { name: 'wiki', url: 'https://kb.example.com/mcp' })).status).toBe(201);
  }); // prettier-ignore

  test('that redirects is not followed, to a private address or elsewhere', async () => {
    let reached = 0;
    const metadata = await startHttp((_request, response) => {
      reached += 1;
      response.end('{}');
    });
    const redirecting = await startHttp((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${metadata.port}/latest/meta-data` }).end();
    });
    closing.push(metadata.close, redirecting.close);
    await start('127.0.0.0/8');
    const id = await mounts.mount(`http://127.0.0.1:${redirecting.port}/mcp`);
    expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({
      isUsable: false,
      fault: 'redirect',
      code: 307,
    });
    expect(reached).toBe(0);
  });

  test('whose certificate is not trusted is not used', async () => {
    const { certificate } = await issueCertificate('kb', ['kb.example.com']);
    const upstream = await startUpstream({ tls: { key: certificate.private, cert: certificate.cert } });
    closing.push(upstream.close);
    await start('127.0.0.0/8');
    const id = await mounts.mount(upstream.url);
    expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({
      isUsable: false,
      fault: 'certificate',
    });
    expect(upstream.received).toEqual([]);
  });

  test('that the operator no longer allows is not called', async () => {
    const upstream = await startUpstream();
    closing.push(upstream.close);
    await start(`127.0.0.1:${upstream.port}`);
    await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
    const elsewhere = await startHttp((_request, response) => {
      response.end();
    });
    closing.push(elsewhere.close);
    const [{ id }] = (await mounts.call('GET')).body.data;
    const moved = await mounts.call('PATCH', `/${id}`, { url: `http://127.0.0.1:${elsewhere.port}/mcp` });
    expect([moved.status, moved.body.error?.details?.[0]?.field]).toEqual([400, 'url']);
    const agent = createAgent(identity, await identity.login());
    expect((await agent.call('wiki__search', { query: 'a' })).result.content[0].text).toBe('found a');
  });
});
