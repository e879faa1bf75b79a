import type { Answer } from '@platform/testing';
import type { IdentityUnderTest } from '../identity.js';

export const PUBLIC_URL = 'http://127.0.0.1:8080';

export interface CreatedApplication {
  readonly application: {
    readonly clientId: string;
    readonly secrets: readonly { readonly id: string; readonly lastUsedAt: string | null }[];
    readonly serviceAccount: { readonly id: string; readonly lastUsedAt: string | null } | null;
  };
  readonly clientSecret: string;
}

/** Registers an application that acts as an administrating service account, unless `fields` say otherwise. */
export async function createApplication(
  identity: IdentityUnderTest,
  session: string,
  fields: object = {},
): Promise<CreatedApplication> {
  const body = {
    name: 'Nightly sync',
    grantTypes: ['client_credentials'],
    scopes: ['crawl:read', 'user:read'],
    role: 'admin',
    ...fields,
  };
  const answer = await identity.call('POST', '/api/v1/oauth-applications', { token: session, body });
  if (answer.status !== 201) throw new Error(`create application answered ${answer.status}: ${answer.text}`);
  return answer.body as CreatedApplication;
}

/** Registers an application that people connect, as a public client. @returns its client id. */
export async function createAgentApplication(
  identity: IdentityUnderTest,
  session: string,
  fields: object = {},
): Promise<string> {
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
    ...fields,
  });
  return application.clientId;
}

export const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** Requests a token with the client id and secret in HTTP Basic. */
export const requestToken = (
  identity: IdentityUnderTest,
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  parameters: Record<string, string> = {},
): Promise<Answer> =>
  identity.call('POST', '/oauth2/token', {
    raw: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }).toString(),
    headers: {
      authorization: toBasic(clientId, clientSecret),
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
