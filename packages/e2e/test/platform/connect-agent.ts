import { createHash, randomBytes } from 'node:crypto';
import type { Answer } from '@platform/testing';
import { succeed } from './succeed.js';

const REDIRECT_URI = 'http://127.0.0.1:33418/callback';

export interface ConnectedAgent {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Posts a form. @throws when the response is an error. */
export const postForm = (
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  succeed(url, 'POST', {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

/** Redeems a refresh token. */
export async function refresh(
  url: string,
  { clientId, refreshToken }: Omit<ConnectedAgent, 'accessToken'>,
): Promise<ConnectedAgent> {
  const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken };
  return toAgent(clientId, await postForm(`${url}/oauth2/token`, fields));
}

const toAgent = (clientId: string, { body }: Answer): ConnectedAgent => ({
  clientId,
  accessToken: body.access_token as string,
  refreshToken: body.refresh_token as string,
});

/** Registers an application as the administrator, who then signs in and consents in a browser. */
export async function connectAgent(
  url: string,
  admin: { readonly email: string; readonly password: string },
  session: string,
  scopes: readonly string[],
): Promise<ConnectedAgent> {
  const created = await succeed(`${url}/api/v1/oauth-applications`, 'POST', {
    token: session,
    body: {
      name: 'Agent',
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes,
      redirectUris: [REDIRECT_URI],
      authMethod: 'none',
    },
  });
  const clientId = created.body.application.clientId as string;
  const cookies = new Map<string, string>();
  const visit = async (path: string, form?: readonly (readonly [string, string])[]) => {
    const { pathname, search } = new URL(path, url);
    const answer = await fetch(url + pathname + search, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
      },
      ...(form && {
        method: 'POST',
        body: new URLSearchParams(form.map(([name, value]) => [name, value] as [string, string])),
      }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await answer.text();
    return {
      location: answer.headers.get('location') ?? '',
      csrf: /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '',
    };
  };
  const page = await visit('/sign-in');
  await visit('/sign-in', [['csrf', page.csrf], ['returnTo', '/'], ...Object.entries(admin)]);
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: scopes.join(' '),
    resource: `${url}/mcp`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'any',
  });
  const { location: consentPage } = await visit(`/oauth2/authorize?${query.toString()}`);
  const { csrf } = await visit(consentPage);
  const granted = scopes.map((scope) => ['scope', scope] as const);
  const decided = await visit(consentPage, [['csrf', csrf], ['decision', 'allow'], ...granted]);
  const code = new URL((await visit(decided.location)).location).searchParams.get('code') ?? '';
  const fields = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  };
  return toAgent(clientId, await postForm(`${url}/oauth2/token`, fields));
}
