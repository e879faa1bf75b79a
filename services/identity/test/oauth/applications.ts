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

/** Requests a token with the client id and secret in HTTP Basic. */
export const requestToken = (
  identity: IdentityUnderTest,
  credentials: { readonly clientId: string; readonly clientSecret: string },
  parameters: Record<string, string> = {},
): Promise<Answer> => {
  const basic = Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`).toString('base64');
  return identity.call('POST', '/oauth2/token', {
    raw: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }).toString(),
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
};
