import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callUrl, waitFor } from '@platform/testing';
import { type ComposeProject, createComposeProject } from './compose.js';

/*
 * Jest's configuration leaves this file out when no Docker engine with Compose responds. Building the images takes
 * minutes.
 */
// prettier-ignore
describe('the Compose file, brought up', () => {
  let project: ComposeProject;
  let session: string;
  let login: () => Promise<string>;

  const call = (method: string, path: string, options: { token?: string; body?: unknown } = {}) =>
    callUrl(`${project.url}/api/v1${path}`, method, options);

  beforeAll(async () => {
    project = await createComposeProject();
    await project.compose('up', '--build', '--detach');
    const password = await project.compose(
      'run', '--rm', '-T', '--entrypoint', 'cat', 'secrets', '/secrets/identity/admin-password',
    );
    const body = { email: 'admin@example.com', password: password.trim() };
    login = () =>
      waitFor(
        async () => {
          const answer = await call('POST', '/auth/login', { body }).catch(() => undefined);
          return answer?.status === 200 && (answer.body.accessToken as string);
        },
        { what: 'a login through the gateway', patienceMs: 180_000 },
      );
    session = await login();
  }, 1_500_000);
  afterAll(() => project.remove());

  test('a token made through the gateway acts in every service, until it is revoked', async () => {
    const scopes = ['user:read', 'crawl:read', 'SEND_MAIL'];
    const { body } = await call('POST', '/personal-access-tokens', { token: session, body: { name: 'compose', scopes } });
    const { id, accessToken: token } = body.token as { id: string; accessToken: string };
    const statuses = () =>
      Promise.all(
        ['/users/me', '/mail/records', '/crawlingManager/stats'].map(
          async (path) => (await call('GET', path, { token })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    expect((await call('DELETE', `/personal-access-tokens/${id}`, { token: session })).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  test('a crawl runs, and its event is in the feed', async () => {
    const scheduleConfig = { scheduleType: 'custom', cronExpression: '0 0 1 1 *', timezone: 'UTC' };
    const path = '/crawlingManager/wiki_1';
    expect((await call('POST', `${path}/schedule`, { token: session, body: { scheduleConfig } })).status).toBe(201);
    expect((await call('POST', `${path}/run`, { token: session })).status).toBe(202);
    await waitFor(
      async () => (await call('GET', '/crawlingManager/events', { token: session })).body.data.length === 1,
      { what: 'the event' },
    );
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
    await login();
    expect((await sql(`select datname from pg_database where datname = 'mail'`)).trim()).toBe('mail');
    expect((await call('GET', '/mail/records', { token: await login() })).status).toBe(200);
  }, 300_000);

  test('reports a database volume that belongs to other secrets', async () => {
    await sql(`alter role postgres password 'another'`);
    await expect(project.compose('run', '--rm', '-T', 'databases')).rejects.toMatchObject({
      stderr: expect.stringContaining('was made with other secrets'),
    });
  });

  test('a backup is restored into an empty installation: its tokens are good, and the feed starts anew', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platform-backup-'));
    const file = join(folder, 'backup.tar');
    try {
      const body = { name: 'kept', scopes: ['crawl:read'] };
      const created = await call('POST', '/personal-access-tokens', { token: await login(), body });
      const token = created.body.token.accessToken as string;
      const { nextCursor } = (await call('GET', '/crawlingManager/events', { token })).body;
      await project.manage('backup', file);
      await expect(project.manage('restore', file)).rejects.toMatchObject({ stderr: expect.stringContaining('has secrets') });
      await project.compose('down', '--volumes');
      await project.manage('restore', file);
      await login();
      const isAccepted = async () => (await call('GET', '/crawlingManager/stats', { token })).status === 200;
      await waitFor(isAccepted, { what: 'the token of the backup' });
      expect((await call('GET', `/crawlingManager/events?after=${nextCursor}`, { token })).status).toBe(410);
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 300_000);

  test('no container has an anonymous volume, which would be left behind', async () => {
    const mounts = await project.mounts();
    expect(mounts.length).toBeGreaterThan(8);
    expect(mounts.filter((name) => /^[0-9a-f]{64}$/.test(name))).toEqual([]);
  });
});
