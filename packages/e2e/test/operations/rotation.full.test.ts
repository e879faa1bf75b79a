import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describeWith, waitFor } from '@platform/testing';
import { send } from '../platform/load.js';
import { type Platform, type ServiceName, startPlatform } from '../platform/platform.js';

const encryptionKey = (id: number) => `k${id}:${Buffer.alloc(32, id).toString('base64')}`;

/** Sends commands over one connection. @throws on the first that Redis refuses. */
async function sendToRedis(port: number, ...commands: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  try {
    for (const command of commands) {
      socket.write(`${command}\r\n`);
      const { value } = await lines.next();
      if (value !== '+OK') throw new Error(String(value));
    }
  } finally {
    socket.destroy();
  }
}

// Follows the steps of the operations guide.
describeWith('nginx', 'rotation', () => {
  describeWith('own-redis', 'of the keys and secrets of a platform at work', () => {
    let platform: Platform;
    let token: string;

    // prettier-ignore
    beforeAll(async () => {
      platform = await startPlatform({
        replicas: 1,
        envByService: { identity: { ENCRYPTION_KEYS: encryptionKey(1) } },
      });
      const body = () => ({ name: 'agent', scopes: ['user:read', 'SEND_MAIL', 'crawl:read'] });
      const answer = await send(platform.url, { path: '/api/v1/personal-access-tokens', token: platform.session, body, status: 201 });
      token = ((await answer.json()) as { token: { accessToken: string } }).token.accessToken;
    });
    afterAll(() => platform?.close());

    const first = (name: ServiceName) => {
      const [replica] = platform.replicas[name];
      if (!replica) throw new Error(`no ${name}`);
      return replica;
    };
    async function restart(name: ServiceName, changes: NodeJS.ProcessEnv): Promise<void> {
      await first(name).stop();
      await first(name).start(changes);
    }
    /** Returns the status with which each service answers a credential. */
    async function statusesFor(credential: string): Promise<number[]> {
      const paths = ['/api/v1/users/me', '/api/v1/mail/records', '/api/v1/crawlingManager/stats'];
      const answers = paths.map((path) => send(platform.url, { path, token: credential, status: 200 }));
      return (await Promise.all(answers)).map(({ status }) => status);
    }
    const works = [200, 200, 200];
    const refused = [401, 401, 401];
    async function keys(...args: string[]): Promise<string[][]> {
      const { stdout, stderr, code } = await first('identity').command('keys', ...args);
      expect([code, stderr]).toEqual([0, '']);
      // prettier-ignore
      return stdout.trim().split('\n').map((line) => line.split(/ +/));
    }

    test('a new signing key invalidates no credential', async () => {
      await keys('rotate');
      expect((await keys('list')).map(([, state]) => state)).toEqual(['published', 'active']);
      expect(await statusesFor(platform.session)).toEqual(works);
      expect(await statusesFor(await platform.login())).toEqual(works);
    });

    // prettier-ignore
    test('the encryption key is added, put first, used to re-encrypt, and the old one removed', async () => {
      const smtp = { host: '127.0.0.1', port: 9, fromEmail: 'noreply@example.com', username: 'u', password: 'kept' };
      const path = '/api/v1/configurationManager/smtpConfig';
      await send(platform.url, { path, token: platform.session, body: () => smtp, status: 200 });
      const steps = [[encryptionKey(1), encryptionKey(2)], [encryptionKey(2), encryptionKey(1)]];
      for (const ring of steps) {
        await restart('identity', { ENCRYPTION_KEYS: ring.join() });
        expect(await statusesFor(token)).toEqual(works);
      }
      expect(await first('identity').command('re-encrypt')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^SMTP secrets: 1 re-encrypted\nsigning keys: 2 re-encrypted$/m),
      });
      await restart('identity', { ENCRYPTION_KEYS: encryptionKey(2) });
      expect(await statusesFor(token)).toEqual(works);
      expect(await statusesFor(await platform.login())).toEqual(works);
    });

    test('a service keeps its credential while its secret changes, and gets the next with the new secret', async () => {
      const fresh = 'n'.repeat(40);
      const kept = 's'.repeat(40);
      await restart('identity', { SERVICE_CLIENTS: `mail:${fresh},crawl:${kept}` });
      expect(await statusesFor(token)).toEqual(works);
      await restart('mail', { SERVICE_CLIENT_SECRET: fresh });
      expect(await statusesFor(token)).toEqual(works);
      // The old secret is no longer accepted.
      await restart('mail', { SERVICE_CLIENT_SECRET: kept });
      expect((await statusesFor(token))[1]).toBe(503);
      await restart('mail', { SERVICE_CLIENT_SECRET: fresh });
    });

    // prettier-ignore
    test('the Redis password is rotated while both passwords are valid', async () => {
      const { port } = platform.redis;
      const urlWith = (password: string) => `redis://:${password}@127.0.0.1:${port}/0`;
      await sendToRedis(port, 'ACL SETUSER default resetpass >first', 'AUTH first', 'ACL SETUSER default >second');
      await restart('crawl', { REDIS_URL: urlWith('second') });
      await sendToRedis(port, 'AUTH second', 'ACL SETUSER default <first');
      const path = '/api/v1/crawlingManager/wiki_1/schedule';
      const scheduledTime = new Date(Date.now() + 2_000).toISOString();
      const body = () => ({ scheduleConfig: { scheduleType: 'once', scheduledTime } });
      const answer = await send(platform.url, { path, token: platform.session, body, status: 201 });
      expect(answer.status).toBe(201);
      await waitFor(async () => (await platform.query('crawl', 'select 1 from outbox.events')).length === 1, { what: 'the run' });
      await expect(sendToRedis(port, 'AUTH first')).rejects.toThrow(/WRONGPASS/);
    });

    // prettier-ignore
    test('removing the old signing key invalidates only the credentials that it signed', async () => {
      await waitFor(async () => (await keys('list'))[0]?.[1] === 'active', { what: 'the new key' });
      const session = await platform.login();
      const old = (await keys('list'))[1]?.[0] ?? '';
      const careful = await first('identity').command('keys', 'remove', old);
      expect([careful.code, careful.stderr]).toEqual([1, expect.stringContaining('--force')]);
      expect(await statusesFor(token)).toEqual(works);
      await keys('remove', old, '--force');
      await waitFor(async () => (await statusesFor(token)).every((status) => status === 401), { what: 'its end' });
      expect(await statusesFor(platform.session)).toEqual(refused);
      expect(await statusesFor(session)).toEqual(works);
    });

    test('lost encryption keys are reported, and new keys with a new signing key let everybody log in', async () => {
      const session = await platform.login();
      await first('identity').stop();
      const lost = first('identity').start({ ENCRYPTION_KEYS: encryptionKey(3) });
      await expect(lost).rejects.toThrow(/ENCRYPTION_KEYS must hold the key that sealed the signing key/);
      const careful = await first('identity').command('keys', 'rotate');
      expect([careful.code, careful.stderr]).toEqual([
        1,
        expect.stringContaining('ENCRYPTION_KEYS must hold'),
      ]);
      await keys('rotate', '--force');
      await first('identity').start();
      expect(await statusesFor(session)).toEqual(works);
      const fresh = await platform.login();
      await waitFor(async () => (await statusesFor(fresh)).every((status) => status === 200), {
        what: 'the new key in every service',
      });
      // Only what users know has to be entered again.
      const reencrypt = () => first('identity').command('re-encrypt');
      expect((await reencrypt()).stderr).toContain('the key that sealed the SMTP secrets');
      await platform.query('identity', 'delete from smtp_configurations');
      // Mails that were queued are lost, too; they expire after a day.
      await platform.query('identity', 'delete from outgoing_mails where sealed_message is not null');
      expect(await reencrypt()).toMatchObject({ code: 0 });
    });
  });
});
