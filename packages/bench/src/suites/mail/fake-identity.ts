import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { smtp } from './submission.js';

/** Answers as identity and its configuration manager would for many organisations, without creating any. */
export interface FakeIdentity {
  readonly url: string;
  /** One token with `SEND_MAIL` for each organisation. */
  readonly tokens: readonly string[];
  stop(): void;
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const toId = (index: number) => `0190a0b0-0000-7000-8000-${String(index).padStart(12, '0')}`;
const owner = { active: true, kind: 'pat', role: 'admin', username: 'bench@corp.example', name: 'Bench' };

/**
 * @param smtpPort - the port in the SMTP configuration of each organisation, which has its own user name.
 * @param othersPort - the port of all organisations but the first.
 */
export async function startFakeIdentity(
  organisations: number,
  smtpPort: number,
  othersPort = smtpPort,
): Promise<FakeIdentity> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const mint = (claims: object) => {
    const iat = Math.floor(Date.now() / 1_000);
    const signed = `${encode({ alg: 'EdDSA', kid: 'k' })}.${encode({ iss: 'workspace-platform', iat, ...claims })}`;
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  };
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' };
  const answers: Readonly<Record<string, (query: URLSearchParams, body: string) => object>> = {
    '/.well-known/jwks.json': () => ({ keys: [key] }),
    '/api/v1/oauth2/token': () => ({ access_token: 'of-the-service', expires_in: 300 }),
    '/api/v1/oauth2/introspect': (_query, body) => ({
      results: (JSON.parse(body) as { tokens: string[] }).tokens.map(() => owner),
    }),
    '/api/v1/configurationManager/internal/smtpConfig': (query) => {
      const username = query.get('orgId');
      return { smtp: { ...smtp, port: username === toId(0) ? smtpPort : othersPort, username } };
    },
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://identity');
    void text(request).then((body) => {
      const answer = answers[pathname]?.(searchParams, body);
      response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: Array.from({ length: organisations }, (_value, index) =>
      mint({ sub: toId(0), jti: toId(index), org: toId(index), kind: 'pat', scope: 'SEND_MAIL' }),
    ),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
