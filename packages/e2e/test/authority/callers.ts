import { createHash, randomBytes } from 'node:crypto';
import { type Answer, callUrl, type CallOptions, testPlatform } from '@platform/testing';
import pg from 'pg';

/** A credential of each kind, and what it may be expected to do. */
export interface Caller {
  readonly name: string;
  readonly bearer: string | undefined;
  readonly kind: 'none' | 'session' | 'token' | 'oauth';
  readonly role: 'admin' | 'member';
  readonly scopes: ReadonlySet<string>;
  readonly isPerson: boolean;
  /** Whether it was issued and has not ended. */
  readonly isActive: boolean;
  /** Whether it is for the tool endpoint alone. */
  readonly isForTools?: boolean;
  /** Whether it is the session of a browser in which nobody has confirmed anything for ten minutes. */
  readonly isUnconfirmed?: boolean;
}

const PATS = '/api/v1/personal-access-tokens';
const PASSWORD = 'correct-Horse-battery-9';
const REDIRECT_URI = 'http://127.0.0.1:33418/callback';
/** The scopes that each kind of account may hold. */
export const HOLDABLE = {
  member: [
    'kb:read',
    'semantic:write',
    'crawl:read',
    'crawl:write',
    'crawl:delete',
    'user:read',
    'pat:read',
    'pat:write',
  ],
  admin: [
    'kb:read',
    'semantic:write',
    'crawl:read',
    'crawl:write',
    'crawl:delete',
    'crawl:work',
    'user:read',
    'user:write',
    'pat:read',
    'pat:write',
    'events:read',
    'config:read',
    'config:write',
    'SEND_MAIL',
    'FETCH_CONFIG',
  ],
  serviceAccount: [
    'crawl:read',
    'crawl:write',
    'crawl:delete',
    'crawl:work',
    'user:read',
    'events:read',
    'config:read',
    'SEND_MAIL',
    'FETCH_CONFIG',
  ],
  connection: [
    'kb:read',
    'semantic:write',
    'crawl:read',
    'crawl:write',
    'crawl:delete',
    'user:read',
    'pat:read',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The platform of the run, with two organisations and a caller of every kind. */
export async function createCallers() {
  const platform = await testPlatform();
  const [own, other] = [await platform.organisation(), await platform.organisation()];
  const call = (method: string, path: string, options?: CallOptions): Promise<Answer> =>
    callUrl(platform.url + path, method, options);
  async function succeed(method: string, path: string, options: CallOptions): Promise<Answer> {
    const answer = await call(method, path, options);
    if (answer.status >= 400) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer;
  }
  const login = async (credentials: { readonly email: string; readonly password: string }) =>
    (await succeed('POST', '/api/v1/auth/login', { body: credentials })).body.accessToken as string;

  const admin = await login(own.admin);
  async function createPerson(email: string) {
    const body = { email, fullName: 'Ada Member', password: PASSWORD };
    const { body: created } = await succeed('POST', '/api/v1/users', { token: admin, body });
    return { id: created.user.id as string, session: await login({ email, password: PASSWORD }) };
  }
  async function createToken(session: string, scopes: readonly string[]) {
    const { body } = await succeed('POST', PATS, { token: session, body: { name: 'authority', scopes } });
    return body.token as { id: string; accessToken: string };
  }
  const tag = randomBytes(4).toString('hex');
  const member = await createPerson(`member-${tag}@example.com`);
  const removed = await createPerson(`removed-${tag}@example.com`);
  await succeed('DELETE', `/api/v1/users/${removed.id}`, { token: admin });

  /** Makes a session that of a browser, and opens it earlier. */
  async function toBrowser(session: string, minutesAgo: number): Promise<string> {
    const { jti } = JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString()) as {
      jti: string;
    };
    const client = new pg.Client({ connectionString: platform.identityDatabaseUrl });
    await client.connect();
    const { rowCount } = await client.query(
      `update sessions set is_browser = true, created_at = created_at - make_interval(mins => $2) where id = $1`,
      [jti, minutesAgo],
    );
    await client.end();
    if (rowCount !== 1) throw new Error('there is no such session');
    return session;
  }

  const revoked = await createToken(admin, HOLDABLE.admin);
  await succeed('DELETE', `${PATS}/${revoked.id}`, { token: admin });
  const ended = await login(own.admin);
  await succeed('POST', '/api/v1/auth/logout', { token: ended });

  const accounts = '/api/v1/service-accounts';
  const account = (await succeed('POST', accounts, { token: admin, body: { name: 'Sync', role: 'admin' } }))
    .body.serviceAccount as { id: string };
  const accountToken = (
    await succeed('POST', `${accounts}/${account.id}/tokens`, {
      token: admin,
      body: { name: 'authority', scopes: HOLDABLE.serviceAccount },
    })
  ).body.token as { id: string; accessToken: string };

  const applications = '/api/v1/oauth-applications';
  const application = (
    await succeed('POST', applications, {
      token: admin,
      body: {
        name: 'Nightly',
        grantTypes: ['client_credentials'],
        scopes: HOLDABLE.serviceAccount,
        role: 'admin',
      },
    })
  ).body as { application: { clientId: string; secrets: { id: string }[] }; clientSecret: string };
  const { clientId } = application.application;
  const postForm = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    succeed('POST', path, {
      raw: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const basic = Buffer.from(`${clientId}:${application.clientSecret}`).toString('base64');
  const applicationToken = (
    await postForm('/oauth2/token', { grant_type: 'client_credentials' }, { authorization: `Basic ${basic}` })
  ).body.access_token as string;

  return {
    ...platform,
    call,
    admin,
    member,
    otherAdmin: await login(other.admin),
    createToken,
    /** Ids of the organisation's own resources, by the parameter of the path and its operations. */
    resources: {
      user: member.id,
      token: (await createToken(member.session, ['user:read'])).id,
      account: account.id,
      accountToken: accountToken.id,
      clientId,
      secretId: application.application.secrets[0]?.id ?? '',
    },
    callers: [
      {
        name: 'nobody',
        bearer: undefined,
        kind: 'none',
        role: 'member',
        scopes: [],
        isPerson: false,
        isActive: false,
      },
      {
        name: 'a revoked token',
        bearer: revoked.accessToken,
        kind: 'token',
        role: 'admin',
        scopes: HOLDABLE.admin,
        isPerson: true,
        isActive: false,
      },
      {
        name: 'a session that was logged out',
        bearer: ended,
        kind: 'session',
        role: 'admin',
        scopes: [],
        isPerson: true,
        isActive: false,
      },
      {
        name: 'the session of a removed member',
        bearer: removed.session,
        kind: 'session',
        role: 'member',
        scopes: [],
        isPerson: true,
        isActive: false,
      },
      {
        name: 'a member’s session',
        bearer: member.session,
        kind: 'session',
        role: 'member',
        scopes: [],
        isPerson: true,
        isActive: true,
      },
      {
        name: 'an administrator’s session',
        bearer: admin,
        kind: 'session',
        role: 'admin',
        scopes: [],
        isPerson: true,
        isActive: true,
      },
      {
        name: 'an administrator’s browser',
        bearer: await toBrowser(await login(own.admin), 0),
        kind: 'session',
        role: 'admin',
        scopes: [],
        isPerson: true,
        isActive: true,
      },
      {
        name: 'an administrator’s browser that confirmed nothing',
        bearer: await toBrowser(await login(own.admin), 11),
        kind: 'session',
        role: 'admin',
        scopes: [],
        isPerson: true,
        isActive: true,
        isUnconfirmed: true,
      },
      {
        name: 'a member’s token',
        bearer: (await createToken(member.session, HOLDABLE.member)).accessToken,
        kind: 'token',
        role: 'member',
        scopes: HOLDABLE.member,
        isPerson: true,
        isActive: true,
      },
      {
        name: 'an administrator’s token',
        bearer: (await createToken(admin, HOLDABLE.admin)).accessToken,
        kind: 'token',
        role: 'admin',
        scopes: HOLDABLE.admin,
        isPerson: true,
        isActive: true,
      },
      {
        name: 'a service account',
        bearer: accountToken.accessToken,
        kind: 'token',
        role: 'admin',
        scopes: HOLDABLE.serviceAccount,
        isPerson: false,
        isActive: true,
      },
      {
        name: 'an application',
        bearer: applicationToken,
        kind: 'oauth',
        role: 'admin',
        scopes: HOLDABLE.serviceAccount,
        isPerson: false,
        isActive: true,
      },
      {
        name: 'a connected agent',
        bearer: await connectAgent(),
        kind: 'oauth',
        role: 'admin',
        scopes: HOLDABLE.connection,
        isPerson: true,
        isActive: true,
        isForTools: true,
      },
    ].map((caller) => ({ ...caller, scopes: new Set<string>(caller.scopes) })) as Caller[],
  };

  /** Connects an agent as the administrator, who signs in and consents in a browser. */
  async function connectAgent(): Promise<string> {
    const created = await succeed('POST', applications, {
      token: admin,
      body: {
        name: 'Agent',
        grantTypes: ['authorization_code'],
        scopes: HOLDABLE.connection,
        redirectUris: [REDIRECT_URI],
        authMethod: 'none',
      },
    });
    const id = created.body.application.clientId as string;
    const cookies = new Map<string, string>();
    const visit = async (path: string, form?: readonly (readonly [string, string])[]) => {
      const { pathname, search } = new URL(path, platform.url);
      const answer = await fetch(platform.url + pathname + search, {
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
        text,
        csrf: /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '',
      };
    };
    const page = await visit('/sign-in');
    await visit('/sign-in', [['csrf', page.csrf], ['returnTo', '/'], ...Object.entries(own.admin)]);
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: id,
      redirect_uri: REDIRECT_URI,
      scope: HOLDABLE.connection.join(' '),
      resource: `${platform.url}/mcp`,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'any',
    });
    const { location: consentPage } = await visit(`/oauth2/authorize?${query.toString()}`);
    const { csrf } = await visit(consentPage);
    const scopes = HOLDABLE.connection.map((scope) => ['scope', scope] as const);
    const decided = await visit(consentPage, [['csrf', csrf], ['decision', 'allow'], ...scopes]);
    const code = new URL((await visit(decided.location)).location).searchParams.get('code') ?? '';
    const fields = {
      grant_type: 'authorization_code',
      client_id: id,
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    };
    return (await postForm('/oauth2/token', fields)).body.access_token as string;
  }
}
