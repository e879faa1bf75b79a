const CRAWL = '/api/v1/crawlingManager';

/** A session of the first admin, which the launcher uses to set up the first organisation. */
export interface AdminSession {
  readonly orgId: string;
  readonly userId: string;
  call(method: string, path: string, body?: object): Promise<Response>;
}

interface LoginResponse {
  readonly accessToken?: string;
  readonly user?: { readonly id: string; readonly orgId: string };
}

/**
 * Signs the admin in, runs `use`, and signs the admin out.
 *
 * @returns undefined when identity does not accept the password alone: it was changed, or the admin has a second
 * factor.
 */
export async function withAdminSession<T>(
  { identityUrl, crawlUrl }: { readonly identityUrl: string; readonly crawlUrl: string },
  admin: { readonly email: string; readonly password: string },
  use: (session: AdminSession) => Promise<T>,
): Promise<T | undefined> {
  const send = (method: string, path: string, body: object | undefined, session?: string) =>
    fetch(`${path.startsWith(CRAWL) ? crawlUrl : identityUrl}${path}`, {
      method,
      headers: {
        ...(session !== undefined && { authorization: `Bearer ${session}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const login = await send('POST', '/api/v1/auth/login', admin);
  const { accessToken, user } = (login.ok ? await login.json() : {}) as LoginResponse;
  if (accessToken === undefined || user === undefined) return undefined;
  try {
    const { orgId, id: userId } = user;
    return await use({ orgId, userId, call: (method, path, body) => send(method, path, body, accessToken) });
  } finally {
    await send('POST', '/api/v1/auth/logout', undefined, accessToken);
  }
}
