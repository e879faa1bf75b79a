import { X509Certificate, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { issueCertificate } from '@platform/testing';
import { exportJWK, jwtVerify } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';
import { SMTPServer, type SMTPServerAuthentication } from 'smtp-server';

const MAILBOX = 'noreply@corp.example';
const CLIENT_SECRET = 'a-secret-of-the-client-0123456789';
const SCOPE = 'https://outlook.office365.com/.default';

export type TokenProvider = Awaited<ReturnType<typeof startTokenProvider>>;

/**
 * The token endpoints of the providers: `oidc-provider` on loopback for client credentials and refresh tokens, and
 * Google's grant, which it doesn't have.
 */
export async function startTokenProvider() {
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.end();
  const server = createServer((request, response) => {
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { certificate } = await issueCertificate('mail', ['mail.example']);
  const publicKey = createPublicKey(
    new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'pem' }),
  );
  const serviceAccount = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const common = { redirect_uris: [], response_types: [] };
  const configuration: Configuration = {
    clients: [
      {
        ...common,
        client_id: 'by-secret',
        client_secret: CLIENT_SECRET,
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
      },
      {
        ...common,
        client_id: 'by-certificate',
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'PS256',
        jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'PS256', use: 'sig' }] },
      },
      {
        client_id: 'refreshing',
        client_secret: CLIENT_SECRET,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['https://mail.example/callback'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    // The tests advance the clock of the mail service.
    clockTolerance: 86_400,
    scopes: ['openid', 'offline_access', SCOPE],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    rotateRefreshToken: true,
    ttl: { AccessToken: 3_600, ClientCredentials: 3_600, Grant: 86_400, IdToken: 60, RefreshToken: 86_400 },
  };
  // It warns that its storage and keys are meant for development.
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  const provider = new Provider(issuer, configuration);
  warn.mockRestore();
  const callback = provider.callback();

  const googleTokens = new Set<string>();
  async function grantGoogle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = new URLSearchParams(await text(request));
    const answer = (status: number, fields: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(fields));
    try {
      const { payload } = await jwtVerify(
        body.get('assertion') ?? '',
        createPublicKey(serviceAccount.publicKey),
        {
          issuer: 'mailer@project.iam.gserviceaccount.com',
          audience: `${issuer}/google`,
          algorithms: ['RS256'],
          clockTolerance: 86_400,
        },
      );
      if (payload['scope'] !== 'https://mail.google.com/' || payload.sub !== MAILBOX)
        return void answer(401, { error: 'unauthorized_client', error_description: 'not authorized' });
      const token = `google-${googleTokens.size}`;
      googleTokens.add(token);
      answer(200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' });
    } catch {
      answer(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    }
  }

  const state = {
    requests: 0,
    /** Replaces the answers of the token endpoint. */
    fail: undefined as ((response: ServerResponse) => void) | undefined,
  };
  handle = (request, response) => {
    state.requests += 1;
    if (state.fail) state.fail(response);
    else if (request.url === '/google') void grantGoogle(request, response);
    else void callback(request, response);
  };

  return {
    state,
    endpoints: { microsoft: `${issuer}/token`, google: `${issuer}/google` },

    /** Signs a person in at the provider. @returns a refresh token. */
    async issueRefreshToken(): Promise<string> {
      const grant = new provider.Grant({ clientId: 'refreshing', accountId: 'ada' });
      grant.addOIDCScope('openid offline_access');
      const grantId = await grant.save();
      const client = await provider.Client.find('refreshing');
      if (!client) throw new Error('no client');
      const token = new provider.RefreshToken({
        client,
        accountId: 'ada',
        grantId,
        scope: 'openid offline_access',
        gty: 'authorization_code',
        expiresWithSession: false,
      });
      return token.save();
    },

    /** Whether the provider has issued the token, and it is still valid. */
    async isValid(token: string): Promise<boolean> {
      if (googleTokens.has(token)) return true;
      const found =
        (await provider.ClientCredentials.find(token)) ?? (await provider.AccessToken.find(token));
      return found !== undefined && !found.isExpired;
    },

    /** The parts of a configuration by provider. */
    auth: {
      microsoft: (fields: object = {}) => ({
        type: 'oauth2',
        provider: 'microsoft',
        tenant: 'corp.example',
        clientId: 'by-secret',
        clientSecret: CLIENT_SECRET,
        ...fields,
      }),
      certificate: () => ({
        type: 'oauth2',
        provider: 'microsoft',
        tenant: 'corp.example',
        clientId: 'by-certificate',
        certificate: `${certificate.cert}\n${certificate.private}`,
      }),
      google: () => ({
        type: 'oauth2',
        provider: 'google',
        serviceAccountKey: JSON.stringify({
          type: 'service_account',
          client_email: 'mailer@project.iam.gserviceaccount.com',
          private_key: serviceAccount.privateKey,
        }),
      }),
      custom: (refreshToken: string) => ({
        type: 'oauth2',
        provider: 'custom',
        tokenUrl: `${issuer}/token`,
        clientId: 'refreshing',
        clientSecret: CLIENT_SECRET,
        refreshToken,
      }),
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An SMTP server that takes XOAUTH2 only. */
export async function startXoauthServer(provider: TokenProvider) {
  const state = {
    logins: [] as string[],
    mails: 0,
    /** Refuses logins with this reply, whatever the token. */
    refusal: undefined as string | undefined,
  };
  async function check({ username, accessToken = '' }: SMTPServerAuthentication) {
    if (state.refusal !== undefined) throw Object.assign(new Error(state.refusal), { responseCode: 535 });
    if (username !== MAILBOX || !(await provider.isValid(accessToken)))
      return { data: { status: '401', schemes: 'bearer', scope: SCOPE } };
    state.logins.push(accessToken);
    return { user: username };
  }
  const server = new SMTPServer({
    logger: false,
    authMethods: ['XOAUTH2'],
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) => {
      callbackify(check)(auth, done);
    },
    onData: (stream, _session, done) => {
      stream.resume().once('end', () => {
        state.mails += 1;
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    state,
    configuration: {
      host: '127.0.0.1',
      port: (server.server.address() as AddressInfo).port,
      fromEmail: MAILBOX,
      username: MAILBOX,
      tls: 'none',
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
