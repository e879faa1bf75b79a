import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { findFreePort } from '@platform/embedded';
import { createTestDatabase } from '@platform/testing';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startKnowledgeServer } from '../src/knowledge-server.js';

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
// prettier-ignore
async function startIssuer() {
  const kid = 'k1';
  const { publicKey, privateKey } = await generateKeyPair('EdDSA');
  const { privateKey: otherKey } = await generateKeyPair('EdDSA');
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' }] });
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

/** Starts the server over a folder of the test's own. */
export async function startKnowledge() {
  const issuer = await startIssuer();
  const database = await createTestDatabase({
    template: 'demo_knowledge',
    migrationsDir: join(import.meta.dirname, '../src'),
    migrate: () => Promise.resolve(),
  });
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'platform-knowledge-')));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const settings = {
    host: '127.0.0.1',
    port,
    databaseUrl: database.url,
    folder: join(parent, 'pages'),
    jwksUrl: issuer.jwksUrl,
    issuer: ISSUER,
    audience: url,
    org: ORG,
  };
  const logged: string[] = [];
  let server: Awaited<ReturnType<typeof startKnowledgeServer>> | undefined;
  const clients: Client[] = [];

  /** Connects with the official client, and signs each request anew. */
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

  return {
    url,
    parent,
    folder: settings.folder,
    logged,
    sign: (claims?: Readonly<Record<string, unknown>>, isForeignKey?: boolean) =>
      issuer.sign(url, claims, isForeignKey),
    connect,
    async start() {
      server = await startKnowledgeServer(settings, (line) => logged.push(line));
    },
    async stop() {
      for (const client of clients.splice(0)) await client.close();
      await server?.close();
      server = undefined;
    },
    async close() {
      await this.stop();
      await database.drop();
      await issuer.close();
      await rm(parent, { recursive: true });
    },
  };
}

/** Calls a tool, and returns its text. */
export async function callText(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [block] = content as { text: string }[];
  return block?.text ?? '';
}
