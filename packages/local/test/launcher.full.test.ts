import { execFile } from 'node:child_process';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, inspectProcess, startEmbeddedPostgres } from '@platform/embedded';
import { callUrl, describeWith, waitFor } from '@platform/testing';
import { Client } from 'pg';
import { living, makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';

const run = promisify(execFile);
const CRAWL = '/api/v1/crawlingManager';
const SMTP = '/api/v1/configurationManager/smtpConfig';
const OWN_SMTP = { host: 'smtp.example.com', port: 2525, fromEmail: 'hello@example.com' };

/* Three starts on one folder, each on what the one before has left there. */

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
const started: Platform[] = [];

async function start(options: Partial<Parameters<typeof startPlatform>[0]> = {}): Promise<Platform> {
  const platform = await startPlatform({ dataDir: dataDir.path, ...options });
  started.push(platform);
  await platform.settled;
  return platform;
}

const call = ({ port }: Platform, method: string, path: string, token?: string, body?: object) =>
  callUrl(`http://127.0.0.1:${port}${path}`, method, {
    token,
    headers: { connection: 'close' },
    ...(body && { body }),
  });
async function login(platform: Platform): Promise<string> {
  const body = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
  return (await call(platform, 'POST', '/api/v1/auth/login', undefined, body)).body.accessToken as string;
}
const lockExists = async (): Promise<boolean> => (await readdir(dataDir.path)).includes('instance.lock');
const listSubjects = async ({ inboxPort }: Platform): Promise<string[]> => {
  const { mails } = (await callUrl(`http://127.0.0.1:${inboxPort}/api/mails`, 'GET')).body;
  return mails.map(({ subject }: { subject: string }) => subject);
};

beforeAll(async () => {
  dataDir = await makeDataDir();
});

afterAll(async () => {
  for (const platform of started) platform.child.kill('SIGTERM');
  await Promise.all(started.map((platform) => platform.exited));
  await dataDir.remove();
});

async function findService(platform: Platform, name: string): Promise<number | undefined> {
  for (const pid of await platform.descendants())
    if ((await inspectProcess(pid))?.command.includes(`services/${name}/dist/server.js`)) return pid;
  return undefined;
}

describe('a start on an empty folder', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await start();
  });

  test('ends with every service ready', async () => {
    const { body } = await call(platform, 'GET', '/health/ready');
    expect(body).toEqual({ status: 'ready', checks: { database: 'ok' } });
    for (const name of ['identity', 'mail', 'crawl'])
      expect((await call(platform, 'GET', `/docs/${name}/json`)).body.openapi).toBe('3.1.0');
    expect(printed(platform, 'Docs')).toBe(`http://localhost:${platform.port}/docs`);
  });

  describeWith('curl', 'the lines that it prints', () => {
    test('work in a POSIX shell: a token works, and is refused once revoked', async () => {
      const lines = /^BASE=[^]*?^echo "Refused.*$/m.exec(platform.output())?.[0] ?? '';
      const { stdout } = await run('sh', ['-euc', lines]);
      expect(stdout).toMatch(
        /Calling[^]*"email":"admin@example\.com"[^]*Token revoked[^]*Refused[^]* 401\n$/,
      );
    });
  });

  test('keeps the secrets in a file that only its owner can read', async () => {
    expect((await stat(join(dataDir.path, 'secrets.json'))).mode & 0o777).toBe(0o600);
  });

  test('a second launcher on the folder reports who holds it, and changes nothing', async () => {
    const second = await start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(
      `Another platform runs on ${dataDir.path}: process ${platform.child.pid}`,
    );
    expect((await call(platform, 'GET', '/health/ready')).status).toBe(200);
  });

  test('reports a taken port in one line, with what to do, before anything is installed or built', async () => {
    const second = await start({ port: platform.port });
    expect(await second.exited).toBe(1);
    expect(second.output()).toMatch(
      new RegExp(`^\\s*Port ${platform.port} is taken [^\\n]*--port ${platform.port + 1}\\n$`),
    );
  });

  test('catches the mail that the platform sends', async () => {
    const body = { email: printed(platform, 'Admin') };
    const asked = await call(platform, 'POST', '/api/v1/auth/password/forgot', undefined, body);
    expect(asked.status).toBe(202);
    await until(async () => (await listSubjects(platform)).includes('Choose a new password'));
  });
});

describe('a start through npm on the data of a launcher that was killed', () => {
  let platform: Platform;
  let pids: number[];
  beforeAll(async () => {
    const [killed] = started;
    pids = (await killed?.descendants()) ?? [];
    killed?.child.kill('SIGKILL');
    platform = await start({ isThroughNpm: true, args: ['--admin-password', 'another-password'] });
    await until(() => living(pids).length === 0);
  });

  test('is ready with the data and the password of the first start, and says that another is not applied', async () => {
    expect(pids.length).toBeGreaterThan(5);
    expect(platform.output()).toContain('The platform is ready');
    expect(await login(platform)).toEqual(expect.any(String));
    expect(platform.output()).toContain('BOOTSTRAP_ADMIN_PASSWORD is not applied');
  });

  test('catches mail on another port than before, and keeps the earlier mails', async () => {
    const body = { email: printed(platform, 'Admin') };
    expect((await call(platform, 'POST', '/api/v1/auth/otp', undefined, body)).status).toBe(202);
    await until(async () => (await listSubjects(platform)).includes('Your sign-in code'));
    expect(await listSubjects(platform)).toContain('Choose a new password');
  });

  test('starts identity again when it dies, while the others go on and the gateway answers 503', async () => {
    const findOthers = () => Promise.all(['mail', 'crawl'].map((name) => findService(platform, name)));
    const [before, killed] = [await findOthers(), await findService(platform, 'identity')];
    process.kill(killed ?? NaN, 'SIGKILL');
    await until(() =>
      platform.output().includes('identity was ended by SIGKILL, and starts again in 0.5 s.'),
    );
    const refused = await call(platform, 'GET', '/api/v1/users/me');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    await until(() => platform.output().includes('identity is ready again.'));
    expect((await call(platform, 'GET', '/health/ready')).status).toBe(200);
    expect(await findService(platform, 'identity')).not.toBe(killed);
    expect(await findOthers()).toEqual(before);
  });

  test('a SIGINT to npm ends all processes below it, and releases the lock', async () => {
    // The next start has to keep these.
    const session = await login(platform);
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await call(platform, 'POST', `${CRAWL}/wiki_1/schedule`, session, { scheduleConfig });
    await call(platform, 'POST', `${CRAWL}/wiki_1/run`, session, {});
    await until(async () => (await call(platform, 'GET', `${CRAWL}/events`, session)).body.data.length === 1);
    expect((await call(platform, 'POST', SMTP, session, OWN_SMTP)).status).toBe(200);

    const running = await platform.descendants();
    platform.child.kill('SIGINT');
    expect(await platform.exited).toBe(0);
    await until(() => living(running).length === 0);
    expect(await lockExists()).toBe(false);
  });
});

describe('a start on a database that lacks migrations', () => {
  let platform: Platform;
  beforeAll(async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir.path, 'postgres') });
    const client = new Client({ connectionString: postgres.url('mail') });
    await client.connect();
    await client.query('drop schema public cascade; create schema public');
    await client.end();
    await postgres.stop();
    platform = await start();
  });

  test('migrates it, and is ready', async () => {
    expect(platform.output()).toContain('The platform is ready');
    expect((await call(platform, 'GET', '/docs/mail/json')).status).toBe(200);
  });

  test('keeps the schedules and the events, and never overwrites the SMTP server of the organisation', async () => {
    const session = await login(platform);
    expect((await call(platform, 'GET', SMTP, session)).body.smtp).toMatchObject(OWN_SMTP);
    expect(platform.output()).toContain("the organisation's SMTP server is smtp.example.com:2525");
    expect((await call(platform, 'GET', `${CRAWL}/events`, session)).body.data).toHaveLength(1);
    expect((await call(platform, 'GET', `${CRAWL}/wiki_1/schedule`, session)).status).toBe(200);
  });

  test('gives up with exit code 1 when mail dies for the fifth time in a minute, prints its log and releases the lock', async () => {
    const pids = new Set(await platform.descendants());
    const killed = new Set<number>();
    while (killed.size < 5) {
      const findNext = async () => {
        const pid = await findService(platform, 'mail');
        return pid !== undefined && !killed.has(pid) && pid;
      };
      const next = await waitFor(findNext, { what: 'another start of mail', intervalMs: 20 });
      for (const pid of await platform.descendants()) pids.add(pid);
      process.kill(next, 'SIGKILL');
      killed.add(next);
    }
    expect(await platform.exited).toBe(1);
    expect(platform.output()).toContain(
      'mail was ended by SIGKILL for the 5th time within a minute. Its log',
    );
    await until(() => living([...pids]).length === 0);
    expect(await lockExists()).toBe(false);
  });
});

test('--fresh deletes nothing in a folder that the launcher did not create', async () => {
  const foreign = await makeDataDir();
  await mkdir(foreign.path);
  await writeFile(join(foreign.path, 'thesis.txt'), 'mine');
  const platform = await start({ dataDir: foreign.path, args: ['--fresh'] });
  expect(await platform.exited).toBe(1);
  expect(platform.output()).toContain('holds something else');
  expect(await readdir(foreign.path)).toEqual(['thesis.txt']);
  await foreign.remove();
});

test('a server that cannot be prepared is reported with what to do, and without its password', async () => {
  const other = await makeDataDir();
  const url = `postgresql://nobody:secret@127.0.0.1:${await findFreePort()}/postgres`;
  const platform = await start({ dataDir: other.path, args: ['--database-url', url] });
  expect(await platform.exited).toBe(1);
  expect(platform.output()).toMatch(/can't be prepared: .*ECONNREFUSED.*DATABASE_URL/);
  expect(platform.output()).not.toContain('secret');
  await other.remove();
});
