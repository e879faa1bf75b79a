import { createHash, randomBytes } from 'node:crypto';
import type { Answer } from '@platform/testing';
import { admin, type IdentityUnderTest } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { PUBLIC_URL } from './applications.js';

export const REDIRECT_URI = 'http://127.0.0.1:33418/callback';

type PageAnswer = Pick<Answer, 'status' | 'headers' | 'text'>;

/**
 * Creates a browser: it keeps cookies, sends them back, and follows nothing by itself.
 *
 * @param cookies - the cookies of another browser, to reach two replicas as one browser.
 */
export function createBrowser(
  identity: Pick<IdentityUnderTest, 'url'>,
  publicUrl = PUBLIC_URL,
  cookies = new Map<string, string>(),
) {
  async function send(
    method: string,
    address: string,
    form?: Record<string, string | string[]>,
  ): Promise<PageAnswer> {
    const path = address.replace(publicUrl, '');
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(form ?? {}))
      for (const one of [value].flat()) body.append(name, one);
    const response = await fetch(identity.url + path, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form && {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          origin: publicUrl,
        }),
      },
      ...(form && { body: body.toString() }),
    });
    const { status, headers } = response;
    const answer = { status, headers, text: await response.text() };
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/expires=Thu, 01 Jan 1970|max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }
  const getLocation = (answer: PageAnswer): string => answer.headers.get('location') ?? '';
  const getFormToken = ({ text }: PageAnswer): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
  return {
    cookies,
    getLocation,
    getFormToken,
    get: (address: string) => send('GET', address),
    post: (address: string, form: Record<string, string | string[]>) => send('POST', address, form),
    async signIn(credentials: { email: string; password: string } = admin): Promise<void> {
      const page = await send('GET', '/sign-in');
      const answer = await send('POST', '/sign-in', {
        csrf: getFormToken(page),
        returnTo: '/',
        email: credentials.email,
        password: credentials.password,
      });
      if (answer.status !== 303) throw new Error(`sign-in answered ${answer.status}: ${answer.text}`);
    },
  };
}
export type Browser = ReturnType<typeof createBrowser>;

export interface Authorization {
  readonly clientId: string;
  readonly verifier: string;
  readonly state: string;
  readonly url: string;
}

/** Creates an authorization request with PKCE; `fields` replace parameters, undefined leaves one out. */
export function createAuthorization(
  clientId: string,
  fields: Readonly<Record<string, string | undefined>> = {},
): Authorization {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const parameters = Object.entries({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: 'user:read crawl:read',
    resource: `${PUBLIC_URL}/mcp`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    ...fields,
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    clientId,
    verifier,
    state,
    url: `/oauth2/authorize?${new URLSearchParams(parameters).toString()}`,
  };
}

/** Goes to the consent page, and answers nothing. */
export async function openConsent(browser: Browser, { url }: Pick<Authorization, 'url'>) {
  const path = browser.getLocation(await browser.get(url));
  const page = await browser.get(path);
  return { path, page, csrf: browser.getFormToken(page) };
}

/** Goes to the consent page and answers it. @returns the address that the browser is sent to in the end. */
export async function consentAt(
  browser: Browser,
  url: string,
  form: Record<string, string | string[]> = {},
): Promise<URL> {
  const started = await browser.get(url);
  const page = browser.getLocation(started);
  if (started.status !== 303) throw new Error(`authorize answered ${started.status}: ${started.text}`);
  const shown = await browser.get(page);
  if (shown.status !== 200) throw new Error(`consent answered ${shown.status}: ${shown.text}`);
  const fields = {
    csrf: browser.getFormToken(shown),
    decision: 'allow',
    scope: ['user:read', 'kb:read', 'crawl:read'],
    ...form,
  };
  const answered = await browser.post(page, fields);
  if (answered.status !== 303) throw new Error(`consent answered ${answered.status}: ${answered.text}`);
  const resumed = await browser.get(browser.getLocation(answered));
  return new URL(browser.getLocation(resumed));
}

export const consent = (
  browser: Browser,
  { url }: Authorization,
  form?: Record<string, string | string[]>,
): Promise<URL> => consentAt(browser, url, form);

type Callable = Pick<IdentityUnderTest, 'call'>;

/** Posts a form to an endpoint of the authorization server, as a public client. */
export const postForm = (
  identity: Callable,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  identity.call('POST', `/oauth2/${path}`, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

export const exchangeCode = (
  identity: Callable,
  { clientId, verifier }: Authorization,
  code: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> =>
  postForm(
    identity,
    'token',
    {
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
      ...fields,
    },
    headers,
  );

export const refresh = (
  identity: Callable,
  clientId: string,
  token: string,
  fields: Record<string, string> = {},
): Promise<Answer> =>
  postForm(identity, 'token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: token,
    ...fields,
  });

/** Refreshes twice, so that the given token is superseded. @returns the newest refresh token. */
export async function supersede(identity: Callable, clientId: string, token: string): Promise<string> {
  let newest = token;
  for (let use = 0; use < 2; use += 1)
    newest = (await refresh(identity, clientId, newest)).body.refresh_token as string;
  return newest;
}

/** Lists the tools with an access token. @returns the status. */
export const listTools = async (identity: Callable, token: string): Promise<number> =>
  (await createCaller(identity, token).legacy('tools/list')).status;
