import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { callUrl, createTestDatabase, describeWith, waitFor } from '@platform/testing';
import pg from 'pg';
import { runCommand } from '../platform/command.js';
import { crawlMigrations, type Platform, type ServiceName, startPlatform } from '../platform/platform.js';
import { type Backup, backUp } from './backup.js';

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

const CRAWL = '/api/v1/crawlingManager';

// Follows the steps of the operations guide, on one platform.
describeWith('nginx', 'the operations guide', () => {
  describeWith('own-redis', 'on a platform at work', () => {
    let platform: Platform;
    let token: string;
    const backups: Backup[] = [];

    beforeAll(async () => {
      platform = await startPlatform({
        replicas: 1,
        envByService: { identity: { ENCRYPTION_KEYS: encryptionKey(1) } },
      });
      token = (await createToken('user:read', 'SEND_MAIL', 'crawl:read')).accessToken;
    });
    afterAll(async () => {
      await platform?.close();
      await Promise.all(backups.map((backup) => backup.remove()));
    });

    const call = (method: string, path: string, body?: object, credential = platform.session) =>
      callUrl(platform.url + path, method, { token: credential, ...(body && { body }) });
    async function createToken(...scopes: string[]): Promise<{ id: string; accessToken: string }> {
      return (await call('POST', '/api/v1/personal-access-tokens', { name: 'agent', scopes })).body.token;
    }
    const schedule = (connector: string, scheduleConfig: object) =>
      call('POST', `${CRAWL}/${connector}/schedule`, { scheduleConfig });
    const soon = (inMs: number) => ({
      scheduleType: 'once',
      scheduledTime: new Date(Date.now() + inMs).toISOString(),
    });
    /** Waits for the event of a run. */
    const waitForRun = (connector: string) =>
      waitFor(
        async () => {
          const sql = `select 1 from outbox.events where event::text like '%${connector}%'`;
          return (await platform.query('crawl', sql)).length === 1;
        },
        { what: `the run of ${connector}` },
      );

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
      const answers = paths.map((path) => call('GET', path, undefined, credential));
      return (await Promise.all(answers)).map(({ status }) => status);
    }
    const works = [200, 200, 200];
    const refused = [401, 401, 401];
    async function keys(...args: string[]): Promise<string[][]> {
      const { stdout, stderr, code } = await first('identity').command('keys', ...args);
      expect([code, stderr]).toEqual([0, '']);
      // oxfmt-ignore
      return stdout.trim().split('\n').map((line) => line.split(/ +/));
    }

    test('a restore brings the state of the backup: schedules run, later data is gone, and later revocations are undone', async () => {
      const getStatus = async (credential: string) =>
        (await call('GET', '/api/v1/users/me', undefined, credential)).status;
      const kept = await createToken('user:read');
      expect((await schedule('wiki_1', soon(10_000))).status).toBe(201);
      for (const url of Object.values(platform.databaseUrls)) backups.push(await backUp(url));

      await waitFor(async () => (await getStatus(kept.accessToken)) === 200, { what: 'the services' });
      await call('DELETE', `/api/v1/personal-access-tokens/${kept.id}`);
      const later = await createToken('user:read');
      const daily = { scheduleType: 'daily', hour: 2, minute: 15 };
      expect((await schedule('files_1', daily)).status).toBe(201);
      expect([await getStatus(kept.accessToken), await getStatus(later.accessToken)]).toEqual([401, 200]);

      // No service runs, and Redis has lost its data.
      const replicas = Object.values(platform.replicas).flat();
      await Promise.all(replicas.map((replica) => replica.stop()));
      await platform.redis.flush();
      for (const backup of backups) await backup.restore();
      for (const service of ['identity', 'crawl'] as const)
        expect(await first(service).command('after-restore')).toMatchObject({ code: 0 });
      await Promise.all(replicas.map((replica) => replica.start()));

      expect([await getStatus(kept.accessToken), await getStatus(later.accessToken)]).toEqual([200, 401]);
      expect(await getStatus(platform.session)).toBe(200);
      const { text } = await call('GET', `${CRAWL}/schedule/all`);
      expect([text.includes('wiki_1'), text.includes('files_1')]).toEqual([true, false]);
      await waitForRun('wiki_1');
    });

    test('a new signing key invalidates no credential', async () => {
      await keys('rotate');
      expect((await keys('list')).map(([, state]) => state)).toEqual(['published', 'active']);
      expect(await statusesFor(platform.session)).toEqual(works);
      expect(await statusesFor(await platform.login())).toEqual(works);
    });

    // oxfmt-ignore
    test('a new encryption key is put first and used to re-encrypt, and the old one removed', async () => {
      const smtp = { host: '127.0.0.1', port: 9, fromEmail: 'noreply@example.com', username: 'u', password: 'kept' };
      const path = '/api/v1/configurationManager/smtpConfig';
      expect((await call('POST', path, smtp)).status).toBe(200);
      await restart('identity', { ENCRYPTION_KEYS: [encryptionKey(2), encryptionKey(1)].join() });
      expect(await statusesFor(token)).toEqual(works);
      expect(await first('identity').command('re-encrypt')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^SMTP secrets: 1 re-encrypted\nsigning keys: 2 re-encrypted$/m),
      });
      await restart('identity', { ENCRYPTION_KEYS: encryptionKey(2) });
      for (const service of ['mail', 'crawl'] as const) {
        await restart(service, { ENCRYPTION_KEYS: [encryptionKey(2), encryptionKey(1)].join() });
        expect(await first(service).command('re-encrypt')).toMatchObject({ code: 0 });
        await restart(service, { ENCRYPTION_KEYS: encryptionKey(2) });
      }
      expect(await statusesFor(token)).toEqual(works);
      expect(await statusesFor(await platform.login())).toEqual(works);
    });

    test('a service keeps its credential while its secret changes, and gets the next with the new secret', async () => {
      const fresh = 'n'.repeat(40);
      const kept = 's'.repeat(40);
      await restart('identity', { SERVICE_CLIENTS: `mail:${fresh},crawl:${kept}` });
      expect(await statusesFor(token)).toEqual(works);
      // The old secret is no longer accepted.
      await restart('mail', {});
      expect((await statusesFor(token))[1]).toBe(503);
      await restart('mail', { SERVICE_CLIENT_SECRET: fresh });
      expect(await statusesFor(token)).toEqual(works);
    });

    test('a database password is rotated with two alternating roles, one of which owns the tables', async () => {
      const suffix = randomBytes(4).toString('hex');
      const [a, b] = [`crawl_${suffix}`, `crawl_b_${suffix}`];
      // Crawl's own tables and those of its queues are created by the first role.
      const database = await createTestDatabase({
        template: 'empty',
        migrationsDir: crawlMigrations,
        migrate: async () => undefined,
      });
      const admin = new pg.Client({ connectionString: database.url });
      await admin.connect();
      const getUrl = (role: string, password: string): string => {
        const url = new URL(database.url);
        [url.username, url.password] = [role, password];
        return url.href;
      };
      await admin.query(`create role ${a} login password 'first'`);
      await admin.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${a}`);
      const migrated = await runCommand('crawl', ['migrate'], { DATABASE_URL: getUrl(a, 'first') });
      expect(migrated).toMatchObject({ code: 0, stdout: expect.stringContaining('applied: ') });
      await restart('crawl', { DATABASE_URL: getUrl(a, 'first') });

      await admin.query(`create role ${b} login password 'second' in role ${a}`);
      await admin.query(`alter role ${b} set role to ${a}`);
      await restart('crawl', { DATABASE_URL: getUrl(b, 'second') });
      await admin.query(`alter role ${a} nologin`);
      const again = await first('crawl').command('migrate');
      expect(again).toMatchObject({ code: 0, stdout: 'nothing to apply\n' });
      const logins = `select distinct usename from pg_stat_activity where datname = current_database() and application_name <> ''`;
      expect((await admin.query(logins)).rows).toEqual([{ usename: b }]);

      await admin.query(`alter role ${a} login password 'third'`);
      await restart('crawl', { DATABASE_URL: getUrl(a, 'third') });
      await admin.query(`alter role ${b} nologin`);
      const owners = `select distinct tableowner from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
      expect((await admin.query(owners)).rows).toEqual([{ tableowner: a }]);

      // A wrong one is reported without its value.
      await first('crawl').stop();
      const start = first('crawl').start({ DATABASE_URL: getUrl(a, 'guessed') });
      const output = await start.catch((error: Error) => error.message);
      expect(output).toMatch(
        /The database can't be used \(password authentication failed.*Check DATABASE_URL\.\n$/,
      );
      expect(output).not.toContain('guessed');
      await first('crawl').start({ DATABASE_URL: platform.databaseUrls.crawl });
      await admin.end();
      await database.drop();
      await platform.query('crawl', `drop role ${b}, ${a}`);
    });

    // oxfmt-ignore
    test('the Redis password is rotated while both passwords are valid', async () => {
      const { port } = platform.redis;
      const urlWith = (password: string) => `redis://:${password}@127.0.0.1:${port}/0`;
      await sendToRedis(port, 'ACL SETUSER default resetpass >first', 'AUTH first', 'ACL SETUSER default >second');
      await restart('crawl', { REDIS_URL: urlWith('second') });
      await sendToRedis(port, 'AUTH second', 'ACL SETUSER default <first');
      expect((await schedule('chat_1', soon(1_000))).status).toBe(201);
      await waitForRun('chat_1');
      await expect(sendToRedis(port, 'AUTH first')).rejects.toThrow(/WRONGPASS/);
    });

    // oxfmt-ignore
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
