import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readBody } from 'node:stream/consumers';

/** Stands for identity where many organisations are needed, or a service credential that identity gives only to itself. */
export interface FakeIdentity {
  readonly url: string;
  readonly organisations: readonly string[];
  /** Creates a service credential. */
  mint(scope: string): string;
  /** Whether the configuration manager answers 503. */
  isManagerUnavailable: boolean;
  close(): Promise<void>;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const toId = (index: number) => `0190a0b0-0000-7000-8000-${String(index).padStart(12, '0')}`;

/** @param getPort - returns the port of the SMTP server of an organisation. */
export async function createFakeIdentity(
  count: number,
  getPort: (index: number) => number,
): Promise<FakeIdentity> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const mint = (scope: string) => {
    const iat = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: 'workspace-platform',
      sub: 'identity',
      jti: toId(0),
      kind: 'service',
      org: toId(0),
      scope,
      iat,
      exp: iat + 300,
    };
    const signed = `${encode({ alg: 'EdDSA', kid: 'k' })}.${encode(claims)}`;
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  };
  const organisations = Array.from({ length: count }, (_value, index) => toId(index));
  function getSmtp(orgId: string | null): object | undefined {
    const index = organisations.indexOf(orgId ?? '');
    if (index < 0) return undefined;
    return {
      smtp: { host: '127.0.0.1', port: getPort(index), fromEmail: 'noreply@corp.example', tls: 'none' },
    };
  }
  const answers: Readonly<Record<string, (query: URLSearchParams, body: string) => object | undefined>> = {
    '/.well-known/jwks.json': () => ({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' }],
    }),
    '/api/v1/oauth2/token': () => ({ access_token: mint('FETCH_CONFIG'), expires_in: 300 }),
    '/api/v1/oauth2/introspect': (_query, body) => ({
      results: (JSON.parse(body) as { tokens: string[] }).tokens.map(() => ({
        active: true,
        kind: 'service',
      })),
    }),
    '/api/v1/configurationManager/internal/smtpConfig': (query) => getSmtp(query.get('orgId')),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://identity');
    void readBody(request).then((body) => {
      const answer = answers[pathname]?.(searchParams, body);
      const isRefused = identity.isManagerUnavailable && pathname.endsWith('/smtpConfig');
      response
        .writeHead(isRefused ? 503 : answer ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const identity: FakeIdentity = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    organisations,
    mint,
    isManagerUnavailable: false,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return identity;
}
