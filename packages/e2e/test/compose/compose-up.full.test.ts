import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVICES } from '@platform/local/services';
import { callUrl, waitFor } from '@platform/testing';
import { type ComposeProject, createComposeProject, TEST_VERSION, writeRelease } from './compose.js';

const run = promisify(execFile);

/*
 * Jest's configuration leaves this file out when no Docker engine with Compose responds. Building the images takes
 * minutes.
 */

interface Session {
  call(
    method: string,
    path: string,
    options?: { token?: string; body?: unknown },
  ): ReturnType<typeof callUrl>;
  /** Signs in as the administrator as soon as the gateway answers. @returns a session. */
  login(): Promise<string>;
}

function openSession(project: ComposeProject): Session {
  const call: Session['call'] = (method, path, options = {}) =>
    callUrl(`${project.url}/api/v1${path}`, method, options);
  return {
    call,
    async login() {
      const command = 'run --rm -T --entrypoint cat secrets /secrets/identity/admin-password';
      const password = await project.compose(...command.split(' '));
      const body = { email: 'admin@example.com', password: password.trim() };
      return waitFor(
        async () => {
          const answer = await call('POST', '/auth/login', { body }).catch(() => undefined);
          return answer?.status === 200 && (answer.body.accessToken as string);
        },
        { what: 'a login through the gateway', patienceMs: 180_000 },
      );
    },
  };
}

/** Stores a value of each kind that organisations give a service to keep sealed. */
async function storeSealedValues({ call }: Session, token: string): Promise<void> {
  const store = async (method: string, path: string, body: object) => {
    const answer = await call(method, path, { token, body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const smtp = {
    host: 'smtp.example.com',
    fromEmail: 'noreply@example.com',
    username: 'noreply@example.com',
  };
  const oauth = {
    tokenUrl: 'https://login.example.com/token',
    clientId: 'platform',
    refreshToken: 'refresh',
  };
  const auth = { type: 'oauth2', provider: 'custom', ...oauth };
  await store('POST', '/configurationManager/smtpConfig', { ...smtp, auth });
  await store('POST', '/crawlingManager/endpoints', { url: 'https://connector.example.com/orders' });
  await store('POST', '/events/destinations', { form: 'webhook', url: 'https://receiver.example.com/facts' });
  const wiki = { name: 'wiki', url: 'https://wiki.example.com/mcp', credential: { kind: 'personal' } };
  const { id } = (await store('POST', '/mcp-servers', wiki)).server as { id: string };
  await store('PUT', `/mcp-servers/${id}/my-credential`, { value: 'own-secret' });
}

/** Puts a new key in front of each service's keys, and re-encrypts. @returns what each service could open. */
async function reencrypt(project: ComposeProject, session: Session): Promise<Record<string, string>> {
  const services = SERVICES.map(({ name }) => name);
  const addKeys = `for s in ${services.join(' ')}; do cd /secrets/$s; keys=$(cat encryption-keys)
    printf 'k2:%s,%s' "$(head -c 32 /dev/urandom | base64)" "$keys" > encryption-keys; done`;
  await project.compose('run', '--rm', '-T', '--no-deps', '--entrypoint', 'sh', 'secrets', '-ec', addKeys);
  await project.compose('restart', ...services);
  await session.login();
  const command = '/nodejs/bin/node dist/cli.js re-encrypt'.split(' ');
  const results = services.map(async (name) => [name, await project.compose('exec', '-T', name, ...command)]);
  return Object.fromEntries(await Promise.all(results)) as Record<string, string>;
}

/** Makes a token, uses and revokes it, schedules a crawl and starts it. @returns what each service answered. */
async function doMainJob({ call, login }: Session) {
  const session = await login();
  const scopes = ['user:read', 'crawl:read', 'SEND_MAIL'];
  const { body } = await call('POST', '/personal-access-tokens', {
    token: session,
    body: { name: 'compose', scopes },
  });
  const { id, accessToken: token } = body.token as { id: string; accessToken: string };
  const statuses = () =>
    Promise.all(
      ['/users/me', '/mail/records', '/crawlingManager/stats'].map(
        async (path) => (await call('GET', path, { token })).status,
      ),
    );
  const active = await statuses();
  await call('DELETE', `/personal-access-tokens/${id}`, { token: session });
  const revoked = await statuses();

  const scheduleConfig = { scheduleType: 'custom', cronExpression: '0 0 1 1 *', timezone: 'UTC' };
  const path = '/crawlingManager/wiki_1';
  await call('POST', `${path}/schedule`, { token: session, body: { scheduleConfig } });
  await call('POST', `${path}/run`, { token: session });
  const events = await waitFor(
    async () => {
      const { data } = (await call('GET', '/crawlingManager/events', { token: session })).body;
      return data.length > 0 && (data as { eventType: string }[]).map(({ eventType }) => eventType);
    },
    { what: 'the event' },
  );
  return { active, revoked, events };
}

const MAIN_JOB_DONE = {
  active: [200, 200, 200],
  revoked: [401, 401, 401],
  events: [expect.any(String)],
};

describe('the Compose file, brought up', () => {
  let project: ComposeProject;
  let session: Session;
  beforeAll(async () => {
    project = await createComposeProject('repository');
    session = openSession(project);
    await project.compose('up', '--build', '--detach');
  }, 1_500_000);
  afterAll(() => project.remove());

  test('does the main job', async () => {
    expect(await doMainJob(session)).toEqual(MAIN_JOB_DONE);
  });

  const sql = (statement: string) =>
    project.compose('exec', '-T', 'postgres', 'psql', '-U', 'postgres', '-tAc', statement);
  const containers = async () => (await project.compose('ps', '--quiet')).split('\n').toSorted();

  test('a second start recreates no container, and completes a half-created database volume', async () => {
    const before = await containers();
    await project.compose('up', '--detach');
    expect(await containers()).toEqual(before);
    await project.compose('stop', 'mail');
    await sql('drop database mail with (force)');
    await sql('drop role mail');
    await project.compose('up', '--detach');
    const token = await session.login();
    expect((await sql(`select datname from pg_database where datname = 'mail'`)).trim()).toBe('mail');
    expect((await session.call('GET', '/mail/records', { token })).status).toBe(200);
  });

  test('reports a database volume that belongs to other secrets', async () => {
    await sql(`alter role postgres password 'another'`);
    await expect(project.compose('run', '--rm', '-T', 'databases')).rejects.toMatchObject({
      stderr: expect.stringContaining('was made with other secrets'),
    });
  });

  test('no container has an anonymous volume, which would be left behind', async () => {
    const mounts = await project.mounts();
    expect(mounts.length).toBeGreaterThan(8);
    expect(mounts.filter((name) => /^[0-9a-f]{64}$/.test(name))).toEqual([]);
  });
});

describe('the Compose file of a release, without a clone', () => {
  let project: ComposeProject;
  let session: Session;
  beforeAll(async () => {
    // No registry has the images of this checkout.
    const builder = await createComposeProject('repository');
    await builder.compose('build');
    await builder.remove();
    project = await createComposeProject('release');
    session = openSession(project);
  }, 1_500_000);
  afterAll(() => project.remove());

  test('comes up and does the main job', async () => {
    await project.compose('up', '--detach');
    expect(await doMainJob(session)).toEqual(MAIN_JOB_DONE);
  });

  test('a backup is restored into an empty installation: its tokens are good, and the feed starts over', async () => {
    const { call } = session;
    const file = join(project.folder, 'backup.tar');
    const body = { name: 'kept', scopes: ['crawl:read'] };
    const admin = await session.login();
    const created = await call('POST', '/personal-access-tokens', { token: admin, body });
    const token = created.body.token.accessToken as string;
    await storeSealedValues(session, admin);
    const { nextCursor } = (await call('GET', '/crawlingManager/events', { token })).body;
    await project.manage('backup', file);
    await expect(project.manage('restore', file)).rejects.toMatchObject({
      stderr: expect.stringContaining('has secrets'),
    });
    await project.compose('down', '--volumes');
    await project.manage('restore', file);
    await session.login();
    const isAccepted = async () => (await call('GET', '/crawlingManager/stats', { token })).status === 200;
    await waitFor(isAccepted, { what: 'the token of the backup' });
    expect((await call('GET', `/crawlingManager/events?after=${nextCursor}`, { token })).status).toBe(410);
  });

  test('OPS-14 the keys of the backup open what organisations have stored: servers, endpoints, destinations, credentials', async () => {
    const { identity, crawl } = await reencrypt(project, session);
    for (const values of ['SMTP secrets', 'destination secrets', 'own credentials at MCP servers'])
      expect(identity).toMatch(new RegExp(`^${values}: 1 re-encrypted$`, 'm'));
    expect(crawl).toMatch(/^endpoint secrets: 1 re-encrypted$/m);
  });

  test('an upgrade backs up, starts the images of the newer file, and keeps what was stored', async () => {
    const body = { name: 'older', scopes: ['user:read'] };
    const created = await session.call('POST', '/personal-access-tokens', {
      token: await session.login(),
      body,
    });
    const newer = await mkdtemp(join(tmpdir(), 'platform-newer-'));
    try {
      await writeRelease(newer, `${TEST_VERSION}-newer`);
      const name = 'docker-compose.yml';
      await cp(join(newer, 'compose', name), join(project.folder, name));
    } finally {
      await rm(newer, { recursive: true });
    }
    for (const { name } of SERVICES)
      await run('docker', [
        'tag',
        `platform/${name}:${TEST_VERSION}`,
        `platform/${name}:${TEST_VERSION}-newer`,
      ]);
    await project.manage('upgrade', join(project.folder, 'before.tar'));
    await session.login();
    const token = created.body.token.accessToken as string;
    expect((await session.call('GET', '/users/me', { token })).status).toBe(200);
    const images = await project.compose('ps', '--format', '{{.Image}}');
    for (const { name } of SERVICES) expect(images).toContain(`platform/${name}:${TEST_VERSION}-newer\n`);
  });
});
