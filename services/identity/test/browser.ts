import type { Answer } from '@platform/testing';

/** A browser as far as servers see it: it keeps cookies, sends forms, and says where a request comes from. */
export interface HttpBrowser {
  readonly cookies: Map<string, string>;
  /** Opens an address, as a person who typed it or followed a link. */
  open(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a form. The headers are those of a page of the same origin, unless others are given. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
  /** Calls the API as a script of the same origin. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** Opens the sign-in page and signs in with a password. */
  signIn(credentials: { email: string; password: string }, returnTo?: string): Promise<Answer>;
}

/** Returns the value of a field of the form on the page. */
export const fieldIn = ({ text }: Pick<Answer, 'text'>, name: string): string =>
  new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';

export const sameOrigin = { 'sec-fetch-site': 'same-origin' };

/** @param address - the address that the gateway passes on. */
export function createHttpBrowser(url: string, address?: string): HttpBrowser {
  const cookies = new Map<string, string>();
  async function send(method: string, path: string, headers: Record<string, string>, body?: string) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(cookie !== '' && { cookie }),
        ...(address !== undefined && { 'x-forwarded-for': address }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as unknown) : undefined,
    };
  }
  const browser: HttpBrowser = {
    cookies,
    open: (path, headers = { 'sec-fetch-site': 'none' }) => send('GET', path, headers),
    post: (path, fields, headers = sameOrigin) =>
      send(
        'POST',
        path,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        new URLSearchParams(fields).toString(),
      ),
    call: (method, path, { body, headers } = {}) =>
      send(
        method,
        path,
        {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...sameOrigin,
          'x-csrf-token': cookies.get('platform_csrf') ?? cookies.get('__Host-platform_csrf') ?? '',
          ...headers,
        },
        body === undefined ? undefined : JSON.stringify(body),
      ),
    async signIn(credentials, returnTo = '/') {
      const page = await browser.open(
        `/sign-in?${new URLSearchParams({ returnTo, prompt: 'login' }).toString()}`,
      );
      return browser.post('/sign-in', { csrf: fieldIn(page, 'csrf'), returnTo, ...credentials });
    },
  };
  return browser;
}
