import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { findFreePort } from '@platform/embedded';
import type { Document } from '@platform/crawl-worker/documents';
import { callUrl, createTestDatabase, SERVICE_SECRET, testPlatform } from '@platform/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Pool } from 'pg';
import { createDocuments, type Instance } from '../src/documents.js';
import { createIndexer } from '../src/indexer.js';
import { startKnowledgeServer } from '../src/knowledge-server.js';
import { createStore } from '../src/store.js';

const ISSUER = 'workspace-platform';
export const ORG = '0198a000-0000-7000-8000-000000000001';
const USER = '0198a000-0000-7000-8000-000000000002';
export const ALL_SCOPES = 'kb:read semantic:write';

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The platform as this server sees it: published keys, and assertions signed with one of them. */
// oxfmt-ignore
async function startIssuer(platformUrl: string | undefined) {
  const kid = 'k1';
  const { publicKey, privateKey } = await generateKeyPair('EdDSA');
  const { privateKey: otherKey } = await generateKeyPair('EdDSA');
  const others = platformUrl === undefined ? [] : (await callUrl(`${platformUrl}/.well-known/jwks.json`, 'GET')).body.keys;
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' }, ...others] });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(jwks);
  });
  const port = await listen(server);
  return {
    jwksUrl: new URL(`http://127.0.0.1:${port}/.well-known/jwks.json`),
    /** Signs an assertion as the platform does, except for these claims; undefined leaves a claim out. */
    sign(audience: string, claims: Readonly<Record<string, unknown>> = {}, isForeignKey = false) {
      const iat = Math.floor(Date.now() / 1_000);
      const whole = { iss: ISSUER, aud: audience, sub: USER, org: ORG, scope: ALL_SCOPES, iat, exp: iat + 60, jti: crypto.randomUUID(), ...claims };
      return new SignJWT(whole).setProtectedHeader({ alg: 'EdDSA', kid }).sign(isForeignKey ? otherKey : privateKey);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What every line of a run's batches says. */
export interface Origin {
  readonly connector: string;
  readonly instance: string;
  readonly runId: string;
  readonly fullCrawl: string;
}

/** An organisation of the platform whose connector `files_1` is crawled by the test itself. */
async function startCrawls() {
  const platform = await testPlatform();
  const { admin } = await platform.organisation();
  const login = await callUrl(`${platform.url}/api/v1/auth/login`, 'POST', { body: admin });
  const token = login.body.accessToken as string;
  const call = async (path: string, body: object) => {
    const answer = await callUrl(`${platform.url}/api/v1/crawlingManager${path}`, 'POST', { token, body });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  await call('/files_1/schedule', { scheduleConfig, worker: 'pull' });
  return {
    url: platform.url,
    token,
    /** Claims a run, has it crawled, and completes it. @returns its id. */
    async crawl(mode: 'full' | 'incremental', crawl: (origin: Origin) => Promise<void>): Promise<string> {
      await call('/files_1/run', { mode });
      const { order, lease } = await call('/work/claim', { connectors: ['files_1'], worker: 'test' });
      const { runId, connector } = order;
      await crawl({ connector, instance: order.instance, runId, fullCrawl: order.fullStartedAt as string });
      await call(`/work/${runId}/finish`, { lease, state: 'completed' });
      return runId as string;
    },
  };
}

/** A connector that nobody crawls, for tests without documents. */
const noCrawls = {
  url: 'http://127.0.0.1:1',
  token: 'none',
  crawl: () => Promise.reject(new Error('this test has no connector')),
} satisfies Awaited<ReturnType<typeof startCrawls>>;

/** Starts the server over a database of the test's own. */
export async function startKnowledge({
  hasCrawls = true,
  identityUrl = 'http://127.0.0.1:1',
  org = ORG,
  platformUrl,
}: {
  readonly hasCrawls?: boolean;
  readonly identityUrl?: string;
  readonly org?: string;
  /** A real platform, whose assertions are accepted beside those of the test. */
  readonly platformUrl?: string;
} = {}) {
  const issuer = await startIssuer(platformUrl);
  const database = await createTestDatabase({
    template: 'demo_knowledge',
    migrationsDir: join(import.meta.dirname, '../src'),
    migrate: () => Promise.resolve(),
  });
  const crawls = hasCrawls ? await startCrawls() : noCrawls;
  const pool = new Pool({ connectionString: database.url, max: 2 });
  const documents = createDocuments(pool);
  await documents.createTable();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const settings = {
    host: '127.0.0.1',
    port,
    databaseUrl: database.url,
    platformUrl: crawls.url,
    platformToken: crawls.token,
    publicUrl: 'https://platform.example.com',
    jwksUrl: issuer.jwksUrl,
    issuer: ISSUER,
    audience: url,
    org,
    identityUrl,
    clientId: 'mail',
    clientSecret: SERVICE_SECRET,
  };
  let server: Awaited<ReturnType<typeof startKnowledgeServer>> | undefined;
  const clients: Client[] = [];

  /** Connects with the official client, and signs each request. */
  async function connect(
    claims: Readonly<Record<string, unknown>> = {},
    versionNegotiation: object = {},
  ): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' }, versionNegotiation);
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      fetch: async (target, init = {}) => {
        const headers = new Headers(init.headers);
        headers.set('authorization', `Bearer ${await issuer.sign(url, claims)}`);
        return fetch(target, { ...init, headers });
      },
    });
    await client.connect(transport);
    clients.push(client);
    return client;
  }

  const lines: string[] = [];

  return {
    url,
    documents,
    /** The index, as the tools of the server ask it. */
    store: createStore(pool),
    /** What it has logged. */
    lines: lines as readonly string[],
    query: (text: string, values: readonly unknown[] = []) => pool.query(text, [...values]),
    /** Locks a table. @returns the function that unlocks it. */
    async lock(table: string): Promise<() => Promise<void>> {
      const locker = await pool.connect();
      await locker.query(`begin; lock table ${table} in access exclusive mode`);
      return async () => {
        await locker.query('rollback');
        locker.release();
      };
    },
    async countWaiting(): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    },
    /** Indexes what has changed, as after an event. */
    async index(origin: Instance): Promise<void> {
      await createIndexer({
        platform: crawls,
        documents,
        store: createStore(pool),
        log: () => undefined,
      }).index(origin);
    },
    crawl: crawls.crawl,
    /** Crawls these documents, whose format is that of their names. */
    bring: (contents: Readonly<Record<string, string>>, mode: 'full' | 'incremental' = 'incremental') =>
      crawls.crawl(mode, (origin) => documents.store(toDocuments(origin, contents))),
    sign: (claims?: Readonly<Record<string, unknown>>, isForeignKey?: boolean) =>
      issuer.sign(url, claims, isForeignKey),
    connect,
    async start() {
      server = await startKnowledgeServer(settings, (line) => lines.push(line));
    },
    async stop() {
      for (const client of clients.splice(0)) await client.close();
      await server?.close();
      server = undefined;
    },
    async close() {
      await this.stop();
      await pool.end();
      await database.drop();
      await issuer.close();
    },
  };
}

const toDocuments = (origin: Origin, contents: Readonly<Record<string, string>>): Document[] =>
  Object.entries(contents).map(([id, text]) => ({
    ...origin,
    id,
    title: (id.endsWith('.md') && /^# (.*)/.exec(text)?.[1]) || id,
    text,
    mimeType: id.endsWith('.md') ? 'text/markdown' : 'text/plain',
    access: [{ kind: 'everyone' }],
  }));

/** Calls a tool, and returns its text. */
export async function callText(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [block] = content as { text: string }[];
  return block?.text ?? '';
}
