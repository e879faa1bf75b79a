import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { Refusal, startStateful } from './stateful-server.js';

/** Whom the server saw. */
export interface SeenCaller {
  readonly sub: string | undefined;
  readonly client: string | undefined;
}

export const givenClient = { clientId: 'platform', clientSecret: 'a-secret-of-the-client-0123456789' };

/**
 * A server at which people sign in, with an authorization server of its own: `oidc-provider` at another origin. It answers
 * calls with the person whose tokens it got.
 */
export async function startOauthUpstream(
  redirectUri: string,
  {
    hasPage = false,
    fetchDocument,
  }: {
    /** Whether a person presses a button at the authorization server; otherwise it signs them in at once. */
    readonly hasPage?: boolean;
    /** Fetches the documents of clients; without it, clients register themselves. */
    readonly fetchDocument?: (url: string) => Promise<Response>;
  } = {},
) {
  /** The URL of the server, once it listens. */
  let resource = '';
  const state = {
    /** Who signs in from now on. */
    subject: 'ada',
    /** How long access tokens last that are issued from now on. */
    tokenSeconds: 300,
    /** Whether the server accepts no token, though the authorization server issues them. */
    refusesTokens: false,
    /** The scope that calls need. */
    neededScope: 'read',
    /** Whether answers to refreshes are lost on their way. */
    losesAnswers: false,
    /** Whose tokens were renewed, in order: the platform lists tools as the administrator meanwhile. */
    refreshes: [] as (string | undefined)[],
    revocations: 0,
    /** Whether nothing can be revoked at the moment. */
    failsRevocations: false,
    /** Whether the endpoint for tokens accepts requests and answers none. */
    hangs: false,
    /** How many requests it has let hang. */
    hung: 0,
    /** Whether the endpoint for tokens answers with 503, and how often it has. */
    failsTokens: false,
    failed: 0,
    /** Whom the authorization server no longer knows. */
    unknown: undefined as string | undefined,
    registrations: 0,
    /** The parameters of each authorization request. */
    requests: [] as URLSearchParams[],
  };
  const authorization = createServer((request, response) => handle(request, response));
  authorization.listen(0, '127.0.0.1');
  await once(authorization, 'listening');
  const issuer = `http://127.0.0.1:${(authorization.address() as AddressInfo).port}`;
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  const scope = 'read write';
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: givenClient.clientId,
        client_secret: givenClient.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    scopes: ['openid', 'offline_access', 'read', 'write'],
    findAccount: (_context, sub) =>
      sub === state.unknown ? undefined : { accountId: sub, claims: () => ({ sub }) },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a-key-of-the-foreign-server'] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => Promise.resolve(true),
    expiresWithSession: () => Promise.resolve(false),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: fetchDocument === undefined },
      ...(fetchDocument && { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, audience) => ({
          scope,
          audience,
          accessTokenTTL: state.tokenSeconds,
          accessTokenFormat: 'opaque',
        }),
      },
    },
    ...(fetchDocument && {
      fetch: (url) => fetchDocument(url instanceof Request ? url.url : url.toString()),
    }),
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope(`openid offline_access ${scope}`);
      grant.addResourceScope(resource, scope);
      await grant.save();
      return grant;
    },
    ttl: { AuthorizationCode: 60, Grant: 3_600, Interaction: 60, Session: 60, RefreshToken: 3_600 },
  });
  warn.mockRestore();
  provider.on('grant.success', ({ oidc, res }) => {
    if (oidc.params?.['grant_type'] !== 'refresh_token') return;
    state.refreshes.push(oidc.entities.RefreshToken?.accountId);
    if (state.losesAnswers) res.destroy();
  });
  const callback = provider.callback();
  const handle = (
    request: Parameters<typeof callback>[0],
    response: Parameters<typeof callback>[1],
  ): void => {
    const url = new URL(request.url ?? '/', issuer);
    if (url.pathname.startsWith('/interaction/')) {
      if (hasPage && request.method === 'GET') {
        response.setHeader('content-type', 'text/html');
        response.end(
          `<!doctype html><title>Foreign</title><form method="post"><button>Sign in as ${state.subject}</button>
           <button formaction="${url.pathname}?refused">Refuse</button></form>`,
        );
        return;
      }
      const isRefused = url.searchParams.has('refused');
      void provider.interactionFinished(
        request,
        response,
        isRefused ? { error: 'access_denied' } : { login: { accountId: state.subject }, consent: {} },
        { mergeWithLastSubmission: false },
      );
    } else {
      if (url.pathname === '/auth') state.requests.push(url.searchParams);
      if (url.pathname === '/token' && state.hangs) return void (state.hung += 1);
      if (url.pathname === '/token' && state.failsTokens) {
        state.failed += 1;
        return void response.writeHead(503).end();
      }
      if (url.pathname === '/token/revocation' && state.failsRevocations)
        return void response.writeHead(503).end();
      if (url.pathname === '/token/revocation') state.revocations += 1;
      if (url.pathname === '/reg') state.registrations += 1;
      void callback(request, response);
    }
  };

  const findToken = ({ authorization: header = '' }: IncomingHttpHeaders) =>
    provider.AccessToken.find(header.replace(/^Bearer /, ''));
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';
  const upstream = await startStateful(
    async (headers) => {
      const { origin } = new URL(resource);
      const token = await findToken(headers);
      if (!token || token.aud !== resource || state.refusesTokens)
        return new Refusal(401, `Bearer resource_metadata="${origin}${metadataPath}", scope="read"`);
      if (!token.scopes.has(state.neededScope))
        return new Refusal(403, `Bearer error="insufficient_scope", scope="${state.neededScope}"`);
      return { sub: token.accountId, client: token.clientId } satisfies SeenCaller;
    },
    (request, response) => {
      if (request.url !== metadataPath) return false;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          resource,
          authorization_servers: [issuer],
          scopes_supported: ['read'],
        }),
      );
      return true;
    },
  );

  resource = upstream.url;
  return {
    url: resource,
    issuer,
    state,
    become: (subject: string): void => void (state.subject = subject),
    /** Goes through the pages of the authorization server as a browser does. @returns the address that it is sent back to. */
    async authorize(url: string): Promise<URL> {
      const cookies = new Map<string, string>();
      let next = url;
      for (let step = 0; step < 10; step += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const method = hasPage && next.includes('/interaction/') ? 'POST' : 'GET';
        const response = await fetch(next, { method, redirect: 'manual', headers: { cookie } });
        const text = await response.text();
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = new URL(response.headers.get('location') ?? 'about:blank', next);
        if (location.href.startsWith(redirectUri)) return location;
        if (location.origin !== issuer) throw new Error(`${response.status} at ${next}: ${text}`);
        next = location.href;
      }
      throw new Error(`the authorization server leads nowhere: ${next}`);
    },
    /** Has the server forget an access token, but not what renews it. */
    async forgetAccessTokens(token: string): Promise<void> {
      await (await provider.AccessToken.find(token))?.destroy();
    },
    async close() {
      await upstream.close();
      authorization.closeAllConnections();
      authorization.close();
      await once(authorization, 'close');
    },
  };
}

export type OauthUpstream = Awaited<ReturnType<typeof startOauthUpstream>>;
