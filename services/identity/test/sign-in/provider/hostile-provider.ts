import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { startHttp } from '../../mcp/servers/upstream.js';
import { client } from './foreign-provider.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** A provider that answers whatever a test wants. */
export interface HostileProvider {
  readonly issuer: string;
  readonly port: number;
  /** Replaces the answer of a path from now on. */
  readonly answers: Map<string, Handle>;
  readonly requests: string[];
  /** The ID token that it gives out. */
  idToken: () => Promise<string>;
  sign(claims: object, forge?: Forge): Promise<string>;
  close(): Promise<void>;
}

/** How an ID token is signed, if not with the provider's key. */
type Forge = 'none' | 'hs256' | 'other_key';

export const sendJson =
  (body: unknown): Handle =>
  (_request, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Made once, because that takes longer than a test; `other` is the pair of a forger. */
let keys: ReturnType<typeof generateKeys> | undefined;
const generateKeys = async () => ({
  own: await generateKeyPair('RS256', { extractable: true }),
  other: await generateKeyPair('RS256'),
});

export async function startHostileProvider(metadata: object = {}): Promise<HostileProvider> {
  const { own, other } = await (keys ??= generateKeys());
  const publicPem = await exportSPKI(own.publicKey);
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k1', use: 'sig', alg: 'RS256' };
  const answers = new Map<string, Handle>();
  const requests: string[] = [];
  const http = await startHttp((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    (answers.get(path) ?? ((_request, answer) => void answer.writeHead(404).end()))(request, response);
  });
  const issuer = `http://127.0.0.1:${http.port}`;
  const hostile: HostileProvider = {
    issuer,
    port: http.port,
    answers,
    requests,
    idToken: () => Promise.reject(new Error('no ID token')),
    async sign(claims, forge) {
      const iat = Math.floor(Date.now() / 1_000);
      const payload = { iss: issuer, aud: client.clientId, iat, exp: iat + 60, ...claims };
      if (forge === 'none') return `${encode({ alg: 'none' })}.${encode(payload)}.`;
      if (forge === 'hs256')
        return new SignJWT(payload)
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(Buffer.from(publicPem));
      const key = forge === 'other_key' ? other.privateKey : own.privateKey;
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(key);
    },
    close: http.close,
  };
  answers.set(
    '/.well-known/openid-configuration',
    sendJson({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
      ...metadata,
    }),
  );
  answers.set('/keys', sendJson({ keys: [jwk] }));
  answers.set('/token', (request, response) => {
    request.resume();
    void hostile.idToken().then((id_token) => {
      sendJson({ access_token: 'a', token_type: 'bearer', expires_in: 60, id_token })(request, response);
    });
  });
  return hostile;
}
