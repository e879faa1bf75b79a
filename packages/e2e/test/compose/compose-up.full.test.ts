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
  }, 300_000);

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
  }, 300_000);

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
  }, 300_000);

  test('a backup is restored into an empty installation: its tokens are good, and the feed starts anew', async () => {
    const { call } = session;
    const file = join(project.folder, 'backup.tar');
    const body = { name: 'kept', scopes: ['crawl:read'] };
    const created = await call('POST', '/personal-access-tokens', { token: await session.login(), body });
    const token = created.body.token.accessToken as string;
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
  }, 300_000);

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
  }, 300_000);
});
