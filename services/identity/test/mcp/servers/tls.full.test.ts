import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callUrl, issueCertificate } from '@platform/testing';
import { admin, createIdentityDatabase, type IdentityUnderTest } from '../../identity.js';
import { environmentFor, type Server, startServer } from '../../process/process.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startUpstream, type Upstream } from './upstream.js';

/* Node reads an authority of one's own when a process starts, so the service runs in a process of its own. */

type Issued = Awaited<ReturnType<typeof issueCertificate>>;

const day = (days: number) => new Date(Date.now() + days * 86_400_000);

let folder: string;
let database: Awaited<ReturnType<typeof createIdentityDatabase>>;
let server: Server;
let identity: Pick<IdentityUnderTest, 'url' | 'call'>;
let session: string;
let mounts: ReturnType<typeof createMounts>;
let certificates: Record<'valid' | 'otherHost' | 'expired' | 'early' | 'untrusted', Issued>;
const upstreams: Upstream[] = [];

beforeAll(async () => {
  certificates = {
    valid: await issueCertificate('kb', ['127.0.0.1']),
    otherHost: await issueCertificate('kb', ['kb.example.com', '127.0.0.2']),
    expired: await issueCertificate('kb', ['127.0.0.1'], { notBeforeDate: day(-9), notAfterDate: day(-1) }),
    early: await issueCertificate('kb', ['127.0.0.1'], { notBeforeDate: day(1), notAfterDate: day(9) }),
    untrusted: await issueCertificate('kb', ['127.0.0.1']),
  };
  const { untrusted: _untrusted, ...trusted } = certificates;
  folder = await mkdtemp(join(tmpdir(), 'platform-tls-'));
  const authorities = Object.values(trusted).map(({ authority }) => authority.cert);
  await writeFile(join(folder, 'authorities.pem'), authorities.join('\n'));
  database = await createIdentityDatabase();
  server = await startServer({
    ...environmentFor(database.url),
    ...ALLOW_LOCAL,
    NODE_EXTRA_CA_CERTS: join(folder, 'authorities.pem'),
  });
  identity = {
    url: server.url,
    call: (method, path, options) => callUrl(server.url + path, method, options),
  };
  const { body } = await identity.call('POST', '/api/v1/auth/login', { body: admin });
  session = body.accessToken;
  mounts = createMounts(identity as IdentityUnderTest, session);
});
afterAll(async () => {
  const ended = once(server.child, 'close');
  server.child.kill('SIGTERM');
  await ended;
  for (const upstream of upstreams) await upstream.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function start(key: string, cert: string): Promise<Upstream> {
  const upstream = await startUpstream({ tls: { key, cert } });
  upstreams.push(upstream);
  return upstream;
}

test('a server with a certificate of a trusted authority is called over TLS', async () => {
  const { certificate } = certificates.valid;
  const upstream = await start(certificate.private, certificate.cert);
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  const agent = createAgent(identity as IdentityUnderTest, session);
  expect((await agent.call('wiki__search', { query: 'cats' })).result.content[0].text).toBe('found cats');
});

test.each(['otherHost', 'expired', 'early', 'untrusted', 'selfSigned'] as const)(
  'sends nothing to a server with an invalid certificate: %s',
  async (kind) => {
    const { certificate, authority } = certificates[kind === 'selfSigned' ? 'untrusted' : kind];
    const { private: key, cert } = kind === 'selfSigned' ? authority : certificate;
    const upstream = await start(key, cert);
    const id = await mounts.mount(upstream.url, { name: kind.toLowerCase(), credential: { kind: 'assertion' } });
    expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({ isUsable: false, fault: 'certificate' });
    expect(upstream.received).toEqual([]);
  },
); // prettier-ignore

test('distinguishes a server without TLS at an https URL from one with invalid responses', async () => {
  const upstream = await startUpstream();
  upstreams.push(upstream);
  const id = await mounts.mount(`https://127.0.0.1:${upstream.port}/mcp`, { name: 'plain' });
  expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({
    isUsable: false,
    fault: 'certificate',
  });
});
