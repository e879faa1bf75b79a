import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readBody } from 'node:stream/consumers';

/** Stands for identity where many organisations are needed, and a service credential that identity gives only to itself. */
export interface FakeIdentity {
  readonly url: string;
  readonly organisations: readonly string[];
  /** A service credential with `SEND_MAIL`. */
  readonly serviceToken: string;
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
  const getSmtp = (orgId: string | null) => ({
    host: '127.0.0.1',
    port: getPort(organisations.indexOf(orgId ?? '')),
    fromEmail: 'noreply@corp.example',
    tls: 'none',
  });
  const answers: Readonly<Record<string, (query: URLSearchParams, body: string) => object>> = {
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
    '/api/v1/configurationManager/internal/smtpConfig': (query) => ({ smtp: getSmtp(query.get('orgId')) }),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://identity');
    void readBody(request).then((body) => {
      const answer = answers[pathname]?.(searchParams, body);
      response
        .writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    organisations,
    serviceToken: mint('SEND_MAIL'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
