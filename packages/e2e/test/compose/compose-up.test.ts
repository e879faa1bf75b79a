import { callUrl, waitFor } from '@platform/testing';
import { type ComposeProject, createComposeProject } from './compose.js';

/* Left out by Jest's configuration where no Docker engine with Compose answers. Builds the images, which takes minutes. */
describe('the Compose file, brought up', () => {
  let project: ComposeProject;
  let session: string;

  const call = (method: string, path: string, options: { token?: string; body?: unknown } = {}) =>
    callUrl(`${project.url}/api/v1${path}`, method, options);

  beforeAll(async () => {
    project = await createComposeProject();
    await project.compose('up', '--build', '--detach');
    const password = await project.compose(
      'run', '--rm', '-T', '--entrypoint', 'cat', 'secrets', '/secrets/identity/admin-password',
    );
    const body = { email: 'admin@example.com', password: password.trim() };
    await waitFor(
      async () => {
        const answer = await call('POST', '/auth/login', { body }).catch(() => undefined);
        session = answer?.body?.accessToken as string;
        return answer?.status === 200;
      },
      { what: 'a login through the gateway', timeoutMs: 180_000 },
    );
  }, 1_500_000);
  afterAll(() => project.remove(), 120_000);

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
      { what: 'the event', timeoutMs: 60_000 },
    );
  }, 90_000);
}); // prettier-ignore
