import type { Settings } from './settings.js';

/*
 * Verifies the platform's credentials as any server can: with its own client credentials (RFC 6749 §4.4) it asks identity
 * whether a token is active (RFC 7662). Servers on Node can use @platform/auth instead, which does the same and more.
 */

const TIMEOUT_MS = 5_000;
/** A service credential is replaced this long before it expires. */
const RENEW_BEFORE_MS = 60_000;

/** Who may bring documents: what the platform demands of a worker. */
const SCOPE = 'crawl:work';
const ROLE = 'admin';

interface Verified {
  readonly verdict: 'accepted' | 'invalid' | 'forbidden';
  /** The connectors that the token is limited to; absent for none. */
  readonly connectors?: readonly string[] | undefined;
}

interface Introspection {
  readonly active: boolean;
  readonly org?: string;
  readonly scope?: string;
  readonly role?: string;
  /** What the token is limited to (RFC 9396); absent without bounds. */
  readonly authorization_details?: readonly { readonly connectors?: readonly string[] }[];
}

const inactive: Introspection = { active: false };

export function createCredentialVerifier(
  settings: Pick<Settings, 'identityUrl' | 'clientId' | 'clientSecret' | 'org'>,
) {
  const { identityUrl, clientId, clientSecret, org } = settings;
  let current: { readonly token: string; readonly renewAt: number } | undefined;

  async function post(path: string, headers: Record<string, string>, body: string): Promise<Response> {
    const url = new URL(path, identityUrl);
    return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  }

  async function getServiceToken(): Promise<string> {
    if (current && performance.now() < current.renewAt) return current.token;
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
    const headers = {
      authorization: `Basic ${basic.toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const response = await post('/api/v1/oauth2/token', headers, 'grant_type=client_credentials');
    if (!response.ok) throw new Error(`identity answered ${response.status} to the client credentials`);
    const { access_token: token, expires_in: seconds } = (await response.json()) as {
      access_token: string;
      expires_in: number;
    };
    current = { token, renewAt: performance.now() + seconds * 1_000 - RENEW_BEFORE_MS };
    return token;
  }

  return {
    /**
     * @param address - of the client, for tokens that are limited to some addresses.
     * @throws Error when identity cannot be asked.
     */
    async verify(token: string, address: string): Promise<Verified> {
      const headers = {
        authorization: `Bearer ${await getServiceToken()}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ tokens: [token], clients: [{ address }] });
      const response = await post('/api/v1/oauth2/introspect', headers, body);
      if (response.status === 401) current = undefined;
      // A token whose form identity does not accept is none.
      if (response.status === 400) return { verdict: 'invalid' };
      if (!response.ok) throw new Error(`identity answered ${response.status} to an introspection`);
      const { results } = (await response.json()) as { results: Introspection[] };
      const [{ active, org: tokenOrg, scope = '', role, authorization_details: details = [] } = inactive] =
        results;
      if (!active || tokenOrg !== org) return { verdict: 'invalid' };
      return role === ROLE && scope.split(' ').includes(SCOPE)
        ? { verdict: 'accepted', connectors: details[0]?.connectors }
        : { verdict: 'forbidden' };
    },
  };
}

export type CredentialVerifier = ReturnType<typeof createCredentialVerifier>;
