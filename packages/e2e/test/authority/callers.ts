import { randomBytes } from 'node:crypto';
import { type Answer, callUrl, type CallOptions, testPlatform } from '@platform/testing';
import pg from 'pg';
import { connectAgent, postForm } from '../platform/connect-agent.js';
import { succeed as callSuccessfully } from '../platform/succeed.js';

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

/** Something that an organisation has, and that the operations whose paths begin like this name. */
export interface Resource {
  readonly path: string;
  readonly ids: Readonly<Record<string, string>>;
}

const PATS = '/api/v1/personal-access-tokens';
const PASSWORD = 'correct-Horse-battery-9';
const CRAWL = ['crawl:read', 'crawl:write', 'crawl:delete'] as const;
/** The scopes that each kind of account may hold. */
export const HOLDABLE = {
  member: ['kb:read', 'semantic:write', ...CRAWL, 'user:read', 'pat:read', 'pat:write'],
  admin: [
    'kb:read',
    'semantic:write',
    ...CRAWL,
    'crawl:work',
    'user:read',
    'user:write',
    'pat:read',
    'pat:write',
    'access:read',
    'events:read',
    'config:read',
    'config:write',
    'SEND_MAIL',
    'FETCH_CONFIG',
  ],
  serviceAccount: [
    ...CRAWL,
    'crawl:work',
    'user:read',
    'access:read',
    'events:read',
    'config:read',
    'SEND_MAIL',
    'FETCH_CONFIG',
  ],
  connection: ['kb:read', 'semantic:write', ...CRAWL, 'user:read', 'pat:read'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** @returns the session of an administrator, except for what is given. */
export const toCaller = (
  name: string,
  bearer: string | undefined,
  { scopes = [], ...more }: Partial<Omit<Caller, 'scopes'>> & { readonly scopes?: readonly string[] } = {},
): Caller => ({
  name,
  bearer,
  kind: 'session',
  role: 'admin',
  scopes: new Set(scopes),
  isPerson: true,
  isActive: true,
  ...more,
});

/** The platform of the run, with two organisations and a caller of every kind. */
export async function createCallers() {
  const platform = await testPlatform();
  const [own, other] = [await platform.organisation(), await platform.organisation()];
  const call = (method: string, path: string, options?: CallOptions): Promise<Answer> =>
    callUrl(platform.url + path, method, options);
  const succeed = (method: string, path: string, options: CallOptions): Promise<Answer> =>
    callSuccessfully(platform.url + path, method, options);
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

  /** Runs a statement in identity's database. @returns the rows that it changed. */
  async function execute(text: string, values: readonly unknown[]): Promise<Record<string, string>[]> {
    const client = new pg.Client({ connectionString: platform.identityDatabaseUrl });
    await client.connect();
    const { rows } = await client.query<Record<string, string>>(text, [...values]);
    await client.end();
    if (rows.length === 0) throw new Error('the statement changed nothing');
    return rows;
  }
  const getSessionId = (session: string): string =>
    (JSON.parse(Buffer.from(session.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }).jti;

  /** Makes a session that of a browser, and opens it earlier. */
  async function toBrowser(session: string, minutesAgo: number): Promise<string> {
    await execute(
      `update sessions set is_browser = true, created_at = created_at - make_interval(mins => $2) where id = $1
       returning id`,
      [getSessionId(session), minutesAgo],
    );
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
  const basic = Buffer.from(`${clientId}:${application.clientSecret}`).toString('base64');
  const applicationToken = (
    await postForm(
      `${platform.url}/oauth2/token`,
      { grant_type: 'client_credentials' },
      { authorization: `Basic ${basic}` },
    )
  ).body.access_token as string;

  const agent = await connectAgent(platform.url, own.admin, admin, HOLDABLE.connection);
  return {
    ...platform,
    call,
    admin,
    otherAdmin: await login(other.admin),
    createToken,
    resources: await createResources(),
    callers: [
      toCaller('nobody', undefined, { kind: 'none', role: 'member', isPerson: false, isActive: false }),
      toCaller('a revoked token', revoked.accessToken, {
        kind: 'token',
        scopes: HOLDABLE.admin,
        isActive: false,
      }),
      toCaller('a session that was logged out', ended, { isActive: false }),
      toCaller('the session of a removed member', removed.session, { role: 'member', isActive: false }),
      toCaller('a member’s session', member.session, { role: 'member' }),
      toCaller('an administrator’s session', admin),
      toCaller('an administrator’s browser', await toBrowser(await login(own.admin), 0)),
      toCaller(
        'an administrator’s browser that confirmed nothing',
        await toBrowser(await login(own.admin), 11),
        { isUnconfirmed: true },
      ),
      toCaller('a member’s token', (await createToken(member.session, HOLDABLE.member)).accessToken, {
        kind: 'token',
        role: 'member',
        scopes: HOLDABLE.member,
      }),
      toCaller('an administrator’s token', (await createToken(admin, HOLDABLE.admin)).accessToken, {
        kind: 'token',
        scopes: HOLDABLE.admin,
      }),
      toCaller('a service account', accountToken.accessToken, {
        kind: 'token',
        scopes: HOLDABLE.serviceAccount,
        isPerson: false,
      }),
      toCaller('an application', applicationToken, {
        kind: 'oauth',
        scopes: HOLDABLE.serviceAccount,
        isPerson: false,
      }),
      toCaller('a connected agent', agent.accessToken, {
        kind: 'oauth',
        scopes: HOLDABLE.connection,
        isForTools: true,
      }),
    ],
  };

  /** Creates one of each thing that a path can name. @returns their ids, by the start of the paths. */
  async function createResources(): Promise<readonly Resource[]> {
    const create = async (path: string, body: object, method = 'POST') =>
      (await succeed(method, path, { token: admin, body })).body;
    const find = async (path: string): Promise<string> =>
      (await succeed('GET', path, { token: admin })).body.data[0].id as string;

    const servers = '/api/v1/mcp-servers';
    const { server } = await create(servers, {
      name: 'wiki',
      url: 'https://tools.example/mcp',
      credential: { kind: 'personal' },
    });
    const destinations = '/api/v1/events/destinations';
    const target = { form: 'webhook', url: 'https://hooks.example/facts', isEnabled: false };
    const destinationId = (await create(destinations, target)).destination.id as string;
    const [delivery] = await execute(
      `insert into fact_deliveries (id, destination_id, org_id, fact_id, facts, first_position, last_position, state,
         attempt_count, attempts, created_at)
       select gen_random_uuid(), id, org_id, gen_random_uuid(), 1, 0, 0, 'failed', 1, '[]', now()
       from fact_destinations where id = $1 returning id`,
      [destinationId],
    );
    const [passkey] = await execute(
      `insert into passkeys (id, org_id, user_id, credential_id, public_key, counter, transports, name, created_at)
       select gen_random_uuid(), org_id, id, id::text, '', 0, '{}', 'Key', now() from users where id = $1 returning id`,
      [member.id],
    );
    const domain = `${tag}.example`;
    await create('/api/v1/organisation/identity-provider/domains', { domain });
    const suppressions = '/api/v1/mail/suppressions';
    const { data: suppression } = await create(suppressions, { address: `gone-${tag}@example.com` });
    const smtp = { host: '127.0.0.1', port: platform.smtpPort, fromEmail: 'a@example.com', tls: 'none' };
    await create('/api/v1/configurationManager/smtpConfig', smtp);
    await succeed('POST', '/api/v1/mail/emails/sendEmail', {
      token: (await createToken(admin, ['SEND_MAIL'])).accessToken,
      body: {
        emailTemplateType: 'loginWithOTP',
        sendEmailTo: ['ada@example.com'],
        subject: 'Code',
        templateData: { otp: '493817' },
      },
    });
    const crawls = '/api/v1/crawlingManager';
    const { data: endpoint } = await create(`${crawls}/endpoints`, { url: 'https://crawl.example/run' });
    const scheduleConfig = { scheduleType: 'once', scheduledTime: '2099-01-01T00:00:00Z' };
    await create(`${crawls}/chat_1/instances/${tag}`, { displayName: 'Chat' }, 'PUT');
    const runs: Record<string, string> = {};
    for (const path of [`${crawls}/chat_1`, `${crawls}/chat_1/instances/${tag}`]) {
      await create(`${path}/schedule`, { scheduleConfig, worker: 'pull' });
      runs[path] = (await create(`${path}/run`, {})).data.runId as string;
    }
    const hooks: Record<string, string> = {};
    for (const path of Object.keys(runs))
      hooks[path] = (await create(`${path}/hooks`, { kind: 'github' })).data.hookId as string;
    const ownRun = runs[`${crawls}/chat_1`] ?? '';
    const tokens = [(await createToken(member.session, ['user:read'])).id, accountToken.id];
    const [subscription] = await execute(
      `insert into fact_destinations (id, org_id, form, url, description, types, secret_sealed, position, served_at, created_at,
         subscription_key, owner_id, credential_kind, credential_id, event, arguments, ends_at)
       select gen_random_uuid(), org_id, 'subscription', 'https://agent.example/', '', '{}', '', 0, now(), now(), id::text, owner_id,
         'pat', id, 'documents.changed', '{}', now() + interval '1 day' from personal_access_tokens where id = $1 returning id`,
      tokens.slice(0, 1),
    );
    const { group } = await create('/api/v1/groups', { name: `Engineering ${tag}` });
    await create(`/api/v1/groups/${group.id}/members`, { members: [member.id] });
    return [
      { path: '/api/v1/groups', ids: { groupId: group.id, memberId: member.id } },
      { path: '/api/v1/users/{id}', ids: { id: member.id, sessionId: getSessionId(member.session) } },
      { path: '/api/v1/sessions/{sessionId}', ids: { sessionId: getSessionId(member.session) } },
      ...tokens.map((tokenId) => ({ path: PATS, ids: { tokenId } })),
      { path: accounts, ids: { accountId: account.id } },
      {
        path: applications,
        ids: { clientId, secretId: application.application.secrets[0]?.id ?? '' },
      },
      { path: '/api/v1/activity', ids: { id: await find('/api/v1/activity') } },
      { path: '/api/v1/connected-apps', ids: { id: await find('/api/v1/connected-apps') } },
      { path: '/api/v1/agents', ids: { kind: 'token', id: tokens[0] ?? '' } },
      { path: servers, ids: { id: server.id, tool: 'search', accountId: account.id } },
      { path: destinations, ids: { id: destinationId, deliveryId: delivery?.['id'] ?? '' } },
      { path: '/api/v1/events/subscriptions', ids: { id: subscription?.['id'] ?? '' } },
      { path: '/api/v1/auth/second-factor/passkeys', ids: { id: passkey?.['id'] ?? '' } },
      { path: '/api/v1/organisation/identity-provider/domains', ids: { domain } },
      { path: suppressions, ids: { id: suppression.id } },
      { path: '/api/v1/mail/records', ids: { id: await find('/api/v1/mail/records') } },
      { path: `${crawls}/endpoints`, ids: { endpointId: endpoint.endpointId } },
      { path: `${crawls}/work`, ids: { runId: ownRun } },
      { path: `${crawls}/runs`, ids: { runId: ownRun } },
      { path: `${crawls}/{connector}/runs`, ids: { connector: 'chat_1', runId: ownRun } },
      {
        path: `${crawls}/{connector}/hooks`,
        ids: { connector: 'chat_1', hookId: hooks[`${crawls}/chat_1`] ?? '' },
      },
      {
        path: `${crawls}/{connector}/instances/{instance}`,
        ids: {
          connector: 'chat_1',
          instance: tag,
          runId: runs[`${crawls}/chat_1/instances/${tag}`] ?? '',
          hookId: hooks[`${crawls}/chat_1/instances/${tag}`] ?? '',
        },
      },
    ];
  }
}
