import { appFields, connectApp } from './connect-app.mjs';

const CRAWL = '/api/v1/crawlingManager';
const TOKENS = '/api/v1/personal-access-tokens';

const schedules = {
  wiki_1: { scheduleType: 'hourly', minute: 15, interval: 1, timezone: 'Europe/Berlin' },
  files_1: { scheduleType: 'daily', hour: 2, minute: 30, timezone: 'Europe/Berlin' },
  chat_1: {
    scheduleType: 'weekly',
    daysOfWeek: [1, 3, 5],
    hour: 6,
    minute: 0,
    timezone: 'America/New_York',
  },
  code_1: { scheduleType: 'custom', cronExpression: '*/20 8-18 * * 1-5', timezone: 'Europe/Berlin' },
  issues_1: { scheduleType: 'monthly', dayOfMonth: 1, hour: 4, minute: 0, timezone: 'UTC' },
};

const tokens = [
  ['Laptop, Claude Code', ['user:read', 'pat:read', 'crawl:read'], 90],
  ['CI deploys', ['crawl:read', 'crawl:write'], 365],
  ['Nightly export', ['kb:read'], 30],
  ['Mailer of the on-call rotation', ['SEND_MAIL'], 90],
  ['Grafana', ['crawl:read'], 'never'],
];

/** The user agents of the administrator's other sessions. */
const userAgents = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
];

const apps = [
  ['Editor of the docs team', ['user:read', 'kb:read', 'semantic:write']],
  ['Release assistant', ['user:read', 'crawl:read', 'crawl:write']],
];

const members = [
  { email: 'ada@example.com', fullName: 'Ada Lovelace', password: 'correct-horse-battery' },
  { email: 'grace@example.com', fullName: 'Grace Hopper', role: 'admin' },
  { email: 'linus@example.com', fullName: 'Linus Pauling' },
];

/**
 * Fills a fresh platform with what an organisation might have after a while.
 *
 * @returns a function that connects applications for the person who is signed in on a page.
 */
export async function fillPlatform(url, admin, wiki) {
  const send = async (method, path, body, token, userAgent) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(userAgent && { 'user-agent': userAgent }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { accessToken: session } = await send('POST', '/api/v1/auth/login', admin);
  const call = (method, path, body) => send(method, path, body, session);

  for (const userAgent of userAgents) await send('POST', '/api/v1/auth/login', admin, undefined, userAgent);
  for (const member of members) await call('POST', '/api/v1/users', member);
  let mailer = '';
  for (const [name, scopes, expiryDays] of tokens) {
    const { token } = await call('POST', TOKENS, { name, scopes, expiryDays });
    if (scopes.includes('SEND_MAIL')) mailer = token.accessToken;
  }
  const { token: revoked } = await call('POST', TOKENS, { name: 'Old laptop', scopes: ['user:read'] });
  await call('DELETE', `${TOKENS}/${revoked.id}`, { reason: 'sold' });

  await call('POST', '/api/v1/oauth-applications', {
    name: 'Nightly reports',
    grantTypes: ['client_credentials'],
    scopes: ['crawl:read'],
    role: 'admin',
  });
  const { serviceAccount } = await call('POST', '/api/v1/service-accounts', {
    name: 'Nightly export',
    role: 'admin',
  });
  for (const name of ['Export host', 'Export host, spare'])
    await call('POST', `/api/v1/service-accounts/${serviceAccount.id}/tokens`, {
      name,
      scopes: ['crawl:read'],
    });
  await mountWiki(call, wiki);

  for (const [connector, scheduleConfig] of Object.entries(schedules))
    await call('POST', `${CRAWL}/${connector}/schedule`, { scheduleConfig });
  for (const connector of ['wiki_1', 'wiki_1', 'wiki_1', 'files_1', 'code_1', 'code_1']) {
    await call('POST', `${CRAWL}/${connector}/run`);
    await new Promise((next) => setTimeout(next, 700));
  }
  await call('POST', `${CRAWL}/chat_1/pause`);

  for (const [subject, address] of [
    ['Your code', 'ada@example.com'],
    ['Your weekly report', 'grace@example.com'],
  ])
    await send(
      'POST',
      '/api/v1/mail/emails/sendEmail',
      {
        emailTemplateType: 'accountCreation',
        sendEmailTo: [address],
        subject,
        templateData: { userName: 'Ada', companyName: 'Example' },
      },
      mailer,
    );

  return async (page) => {
    for (const [name, scopes] of apps) {
      const { application } = await call('POST', '/api/v1/oauth-applications', appFields(name, scopes));
      const { accessToken } = await connectApp(page, { url, clientId: application.clientId, scopes });
      await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    }
  };
}

/** Mounts a server whose search was approved, and which has become hostile since. */
async function mountWiki(call, wiki) {
  const path = '/api/v1/mcp-servers';
  const rules = [{ pattern: '*_search', scope: 'kb:read' }];
  const { server } = await call('POST', path, { name: 'wiki', url: wiki.url, rules });
  await call('POST', `${path}/${server.id}/refresh`);
  const { data } = await call('GET', `${path}/${server.id}/tools`);
  const tools = data.map(({ name, hash }) => ({ name, approve: hash }));
  await call('PATCH', `${path}/${server.id}/tools`, { tools });
  wiki.turnHostile();
  await call('POST', `${path}/${server.id}/refresh`);
}
