import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listChildren, startEmbeddedPostgres } from '@platform/embedded';
import { Client } from 'pg';
import { describeWith } from '@platform/testing';
import { living, makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';

const run = promisify(execFile);

/** The time for a first start on a machine that also builds and runs other tests. */
const START_MS = 180_000;

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
const started: Platform[] = [];

async function start(options: Partial<Parameters<typeof startPlatform>[0]> = {}): Promise<Platform> {
  const platform = await startPlatform({ dataDir: dataDir.path, ...options });
  started.push(platform);
  await platform.settled;
  return platform;
}

const lockExists = async (): Promise<boolean> => (await readdir(dataDir.path)).includes('instance.lock');

beforeAll(async () => {
  dataDir = await makeDataDir();
});

afterAll(async () => {
  for (const platform of started) platform.child.kill('SIGTERM');
  await Promise.all(started.map((platform) => platform.exited));
  await dataDir.remove();
});

describe('a start on an empty folder', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await start();
  });

  it('ends with every service ready', async () => {
    const ready = await fetch(`http://127.0.0.1:${platform.port}/health/ready`);
    const services = { identity: 'ready', mail: 'ready', crawl: 'ready' };
    expect(await ready.json()).toEqual({ status: 'ready', services });
    expect(printed(platform, 'Docs')).toBe(`http://localhost:${platform.port}/docs`);
  });

  describeWith('curl', 'the lines that it prints', () => {
    it('prints commands that work in a POSIX shell: a token works, and is refused once revoked', async () => {
      const lines = /^BASE=[^]*?^echo "Refused.*$/m.exec(platform.output())?.[0] ?? '';
      const { stdout } = await run('sh', ['-euc', lines]);
      expect(stdout).toMatch(
        /Calling[^]*"email":"admin@example\.com"[^]*Token revoked[^]*Refused[^]* 401\n$/,
      );
    });
  });

  it('keeps the secrets in a file that only its owner can read', async () => {
    expect((await stat(join(dataDir.path, 'secrets.json'))).mode & 0o777).toBe(0o600);
  });

  it('tells a second launcher on the folder who holds it, and lets it change nothing', async () => {
    const second = await start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(
      `Another platform runs on ${dataDir.path}: process ${platform.child.pid}`,
    );
    expect((await fetch(`http://127.0.0.1:${platform.port}/health/ready`)).status).toBe(200);
  });

  it('reports a taken port in one line, with what to do', async () => {
    const second = await start({ port: platform.port });
    expect(await second.exited).toBe(1);
    expect(second.output().trim().split('\n')).toHaveLength(1);
    expect(second.output()).toContain(`Port ${platform.port} is taken`);
    expect(second.output()).toContain('--port');
  });

  it('reports a taken port of the inbox in one line, with what to do', async () => {
    const second = await start({ inboxPort: platform.inboxPort });
    expect(await second.exited).toBe(1);
    expect(second.output().trim().split('\n')).toHaveLength(1);
    expect(second.output()).toContain(`Port ${platform.inboxPort} is taken`);
    expect(second.output()).toContain('--inbox-port');
  });

  it('catches the mail that the platform sends', async () => {
    const asked = await fetch(`http://127.0.0.1:${platform.port}/api/v1/auth/password/forgot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: printed(platform, 'Admin') }),
    });
    expect(asked.status).toBe(202);
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${platform.inboxPort}/api/mails`);
      return JSON.stringify(await response.json()).includes('Choose a new password');
    });
  });

  it('SIGTERM ends all processes with exit code 0 and releases the lock', async () => {
    const pids = await platform.descendants();
    expect(pids.length).toBeGreaterThan(5);
    platform.child.kill('SIGTERM');
    expect(await platform.exited).toBe(0);
    await until(() => living(pids).length === 0);
    expect(await lockExists()).toBe(false);
  });
});

describe('a start on a folder that has been used', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await start({ isThroughNpm: true, args: ['--admin-password', 'another-password'] });
  });

  it('is ready with the data and the password of the first start', async () => {
    const login = await fetch(`http://127.0.0.1:${platform.port}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: printed(platform, 'Admin'), password: printed(platform, 'Password') }),
    });
    expect(login.status).toBe(200);
  });

  it('catches mail on another port than before, and keeps the earlier mails', async () => {
    const subjects = async () => {
      const response = await fetch(`http://127.0.0.1:${platform.inboxPort}/api/mails`);
      return ((await response.json()) as { mails: { subject: string }[] }).mails.map(
        ({ subject }) => subject,
      );
    };
    const email = printed(platform, 'Admin');
    const asked = await fetch(`http://127.0.0.1:${platform.port}/api/v1/auth/otp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
    });
    expect(asked.status).toBe(202);
    await until(async () => (await subjects()).includes('Your sign-in code'));
    // The mail of the first start.
    expect(await subjects()).toContain('Choose a new password');
  });

  it('says that another admin password is not applied', () => {
    expect(platform.output()).toContain('BOOTSTRAP_ADMIN_PASSWORD is not applied');
  });

  it('a SIGINT to npm ends all processes below it', async () => {
    const pids = await platform.descendants();
    platform.child.kill('SIGINT');
    expect(await platform.exited).toBe(0);
    await until(() => living(pids).length === 0);
    expect(await lockExists()).toBe(false);
  });
});

/** Returns the response of a path of the service, through the gateway. */
const askGateway = (platform: Platform, path: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${platform.port}${path}`, { headers: { connection: 'close' } });

/** Kills a service, and expects that it is started again while the others go on. */
async function expectRestart(platform: Platform, service: string, path: string): Promise<void> {
  const others = ['identity', 'mail', 'crawl'].filter((name) => name !== service);
  const findOthers = () => Promise.all(others.map((name) => pidOfService(platform, name)));
  const before = await findOthers();
  const killed = await pidOfService(platform, service);
  process.kill(killed, 'SIGKILL');
  await until(() =>
    platform.output().includes(`${service} was ended by SIGKILL, and starts again in 0.5 s.`),
  );
  const refused = await askGateway(platform, path);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  await until(() => platform.output().includes(`${service} is ready again.`));
  expect((await askGateway(platform, '/health/ready')).status).toBe(200);
  expect(await pidOfService(platform, service)).not.toBe(killed);
  expect(await findOthers()).toEqual(before);
}

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
  }, START_MS);

  it('migrates it, and is ready', async () => {
    expect(platform.output()).toContain('The platform is ready');
    const ready = await fetch(`http://127.0.0.1:${platform.port}/health/ready`);
    expect(await ready.json()).toMatchObject({ services: { mail: 'ready' } });
  });

  it('starts identity again when it dies, and the gateway answers 503 meanwhile', () =>
    expectRestart(platform, 'identity', '/api/v1/users/me'));

  it('ends what it has started again', async () => {
    const pids = await platform.descendants();
    platform.child.kill('SIGTERM');
    expect(await platform.exited).toBe(0);
    await until(() => living(pids).length === 0);
  });
});

describe('a start on the data of a launcher that was killed', () => {
  let platform: Platform;
  it(
    'works, and no process of the killed launcher is left',
    async () => {
      const killed = await start();
      const pids = await killed.descendants();
      killed.child.kill('SIGKILL');
      platform = await start();
      expect(platform.output()).toContain('The platform is ready');
      await until(() => living(pids).length === 0);
    },
    START_MS,
  );

  it(
    'gives up with exit code 1 when mail dies for the fifth time in a minute, prints its log and releases the lock',
    async () => {
      const pids = new Set(await platform.descendants());
      const killed: number[] = [];
      while (killed.length < 5) {
        await until(async () => {
          const pid = await pidOfService(platform, 'mail').catch(() => undefined);
          return pid !== undefined && !killed.includes(pid) && killed.push(pid) > 0;
        });
        for (const pid of await platform.descendants()) pids.add(pid);
        process.kill(killed.at(-1) as number, 'SIGKILL');
      }
      expect(await platform.exited).toBe(1);
      expect(platform.output()).toContain(
        'mail was ended by SIGKILL for the 5th time within a minute. Its log',
      );
      await until(() => living([...pids]).length === 0);
      expect(await lockExists()).toBe(false);
    },
    START_MS,
  );
});

async function pidOfService(platform: Platform, name: string): Promise<number> {
  for (const pid of await listChildren(platform.child.pid as number)) {
    if ((await getCommand(pid)).includes(`services/${name}/dist/server.js`)) return pid;
  }
  throw new Error(`${name} does not run:\n${platform.output()}`);
}

/** `ps` is not used on Linux, because slim images lack it. */
async function getCommand(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8');
  return (await run('ps', ['-o', 'args=', '-p', String(pid)])).stdout;
}
