import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

/** The claims of the provider about a person, beside the subject. */
export type PersonClaims = Readonly<Record<string, unknown>>;

/** An organisation's own identity provider: `oidc-provider` on loopback. */
export interface ForeignProvider {
  readonly issuer: string;
  readonly people: Map<string, PersonClaims>;
  /** Who signs in at the provider from now on, and how. */
  signsIn: { subject: string; amr?: string[]; acr?: string };
  /** Goes through the provider's pages as a browser does. @returns the address that it sends the browser back to. */
  authorize(url: string): Promise<URL>;
  close(): Promise<void>;
}

export const client = { clientId: 'platform', clientSecret: 'a-secret-of-the-client-0123456789' };

/** Which of them it states depends on the person. */
const groupClaims = ['groups', 'hasgroups', '_claim_names', 'https://acme.example/teams'];

const toConfiguration = (foreign: ForeignProvider, redirectUri: string): Configuration => ({
  clients: [
    { client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] },
    { client_id: 'public', token_endpoint_auth_method: 'none', redirect_uris: [redirectUri] },
  ],
  claims: {
    openid: ['sub', 'amr', 'acr'],
    email: ['email', 'email_verified'],
    profile: ['name', ...groupClaims],
  },
  findAccount: (_context, sub) => ({
    accountId: sub,
    claims: () => ({ sub, ...foreign.people.get(sub) }),
  }),
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ['a-key-of-the-foreign-provider'] },
  pkce: { required: () => true },
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({
      clientId: oidc.client?.clientId ?? '',
      accountId: oidc.session?.accountId ?? '',
    });
    grant.addOIDCScope('openid email profile');
    await grant.save();
    return grant;
  },
  ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
});

/** @param hasPage - whether a person presses a button at the provider; otherwise it signs them in at once. */
export async function startForeignProvider(
  redirectUri: string,
  { hasPage = false, isThin = false }: { readonly hasPage?: boolean; readonly isThin?: boolean } = {},
): Promise<ForeignProvider> {
  let handle = (_request: IncomingMessage, response: ServerResponse): void => void response.end();
  const server = createServer((request, response) => handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const foreign: ForeignProvider = {
    issuer,
    people: new Map(),
    signsIn: { subject: '' },
    async authorize(url) {
      const cookies = new Map<string, string>();
      for (let next = url; ;) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
        await response.arrayBuffer();
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          cookies.set(name, value);
        }
        const location = new URL(response.headers.get('location') ?? 'about:blank', next);
        if (location.href.startsWith(redirectUri)) return location;
        if (location.origin !== issuer)
          throw new Error(`the provider answered ${response.status} at ${next}`);
        next = location.href;
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  // It warns that its storage and keys are meant for development.
  const warn = jest.spyOn(console, 'warn').mockReturnValue();
  const provider = new Provider(issuer, {
    ...toConfiguration(foreign, redirectUri),
    conformIdTokenClaims: isThin,
  });
  warn.mockRestore();
  // Each organisation has its own redirect URI, and tests make organisations after the provider.
  provider.Client.prototype.redirectUriAllowed = (uri) => uri.startsWith(redirectUri);
  const callback = provider.callback();
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (hasPage && request.method === 'GET') {
      response.setHeader('content-type', 'text/html');
      response.end(
        '<!doctype html><title>Foreign</title><form method="post"><button>Sign in as Ada</button></form>',
      );
      return;
    }
    const { subject: accountId, amr, acr } = foreign.signsIn;
    const login = { accountId, ...(amr && { amr }), ...(acr !== undefined && { acr }) };
    await provider.interactionFinished(request, response, { login });
  }
  handle = (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void interact(request, response);
    else void callback(request, response);
  };
  return foreign;
}
