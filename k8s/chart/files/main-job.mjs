// The main job, asked of the services themselves: an administrator makes a token, which acts in each of them until it is
// revoked, and a crawl runs. Takes back what it makes. Exits with 1 at the first answer that is wrong.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const { ADMIN_EMAIL, ADMIN_PASSWORD_FILE, CONNECTOR } = process.env;
const services = {
  identity: process.env.IDENTITY_URL,
  mcp: process.env.MCP_URL,
  mail: process.env.MAIL_URL,
  crawl: process.env.CRAWL_URL,
};
const RUN_DEADLINE_MS = 120_000;

async function call(service, method, path, { bearer, body, status = [200, 201, 202] } = {}) {
  const response = await fetch(`${services[service]}${path}`, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (![status].flat().includes(response.status))
    throw new Error(`${service} answered ${method} ${path} with ${response.status}: ${text.slice(0, 300)}`);
  return text.startsWith('{') ? JSON.parse(text) : text;
}

async function useToken(session) {
  const body = { name: 'helm test', scopes: ['user:read', 'crawl:read', 'SEND_MAIL'], expiryDays: 30 };
  const { token } = await call('identity', 'POST', '/api/v1/personal-access-tokens', {
    bearer: session,
    body,
  });
  const questions = [
    ['identity', '/api/v1/users/me'],
    ['mail', '/api/v1/mail/records'],
    ['crawl', '/api/v1/crawlingManager/stats'],
  ];
  const ask = (bearer, status) =>
    Promise.all(questions.map(([service, path]) => call(service, 'GET', path, { bearer, status })));
  try {
    await ask(token.accessToken, 200);
    console.log('ok    a token acts in identity, mail and crawl');
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
    const answer = await call('mcp', 'POST', '/mcp', { bearer: token.accessToken, body: tool });
    if (!JSON.stringify(answer).includes(ADMIN_EMAIL))
      throw new Error(`whoami answered ${JSON.stringify(answer)}`);
    console.log('ok    it calls a tool');
  } finally {
    await call('identity', 'DELETE', `/api/v1/personal-access-tokens/${token.id}`, { bearer: session });
  }
  await ask(token.accessToken, 401);
  console.log('ok    revoked, it is refused by each of them');
}

async function crawl(session) {
  const instance = `/api/v1/crawlingManager/${CONNECTOR}/instances/helm-test`;
  const scheduleConfig = { scheduleType: 'custom', cronExpression: '0 0 1 1 *', timezone: 'UTC' };
  const ask = (method, path, body) => call('crawl', method, `${instance}${path}`, { bearer: session, body });
  await ask('PUT', '', { displayName: 'helm test' });
  try {
    await ask('POST', '/schedule', { scheduleConfig });
    const { runId } = (await ask('POST', '/run')).data;
    const deadline = Date.now() + RUN_DEADLINE_MS;
    for (let run; run?.outcome !== 'completed'; await delay(500)) {
      run = (await ask('GET', `/runs/${runId}`)).data;
      if (['failed', 'aborted', 'skipped'].includes(run.outcome) || Date.now() > deadline)
        throw new Error(`the crawl did not complete: ${JSON.stringify(run)}`);
    }
    console.log('ok    a crawl runs');
  } finally {
    await ask('DELETE', '');
  }
}

try {
  if (!ADMIN_EMAIL) throw new Error('nobody to sign in as: set test.email, or admin.email, among the values');
  const password = readFileSync(ADMIN_PASSWORD_FILE, 'utf8').trim();
  const body = { email: ADMIN_EMAIL, password };
  const { accessToken: session } = await call('identity', 'POST', '/api/v1/auth/login', { body });
  if (!session) throw new Error(`${ADMIN_EMAIL} cannot sign in with the password alone`);
  console.log(`ok    ${ADMIN_EMAIL} signs in`);
  await useToken(session);
  await crawl(session);
  await call('identity', 'POST', '/api/v1/auth/logout', { bearer: session, status: [200, 204] });
} catch (error) {
  console.error(`FAIL  ${error.message}${error.cause ? `: ${error.cause.message}` : ''}`);
  process.exitCode = 1;
}
