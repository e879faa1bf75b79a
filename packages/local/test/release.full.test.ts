import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { callUrl, describeWith, waitFor } from '@platform/testing';
import { parse } from 'yaml';
import { fuzz } from './fuzz.js';
import { makeDataDir, type Platform, printed, startPlatform } from './platform.js';

/*
 * What others build upon. A release, made twice, installed in empty projects from the made files, and the program of each
 * README run against the platform; and the OpenAPI documents, with a generator of clients and a fuzzer.
 */

const ROOT = resolve(import.meta.dirname, '../../..');
const CRAWL = '/api/v1/crawlingManager';
const START_MS = 240_000;
const CLIENT_SECRET = 'notes-'.repeat(8);
const run = promisify(execFile);

describeWith('openapi-tools', 'a release', () => {
  let folder: string;
  let project: string;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let platform: Platform;
  let session: string;
  const programs: ChildProcess[] = [];

  const release = (...args: readonly string[]) =>
    run(process.execPath, ['packages/release/release.mjs', ...args], { cwd: ROOT });
  const makeRelease = (name: string) => {
    const options = ['--rehearsal', '--without-images', '--images', 'ghcr.io/acme'];
    return release('0.1.0', ...options, '--output', join(folder, name));
  };
  const call = (method: string, path: string, body?: object) =>
    callUrl(`http://127.0.0.1:${platform.port}${path}`, method, { token: session, ...(body && { body }) });

  async function openSession(): Promise<string> {
    const admin = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
    return (await call('POST', '/api/v1/auth/login', admin)).body.accessToken;
  }
  async function createToken(scopes: readonly string[]): Promise<{ id: string; accessToken: string }> {
    const { body } = await call('POST', '/api/v1/personal-access-tokens', { name: 'a program', scopes });
    return body.token;
  }
  const createBearer = async (...scopes: string[]) => (await createToken(scopes)).accessToken;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-release-'));
    dataDir = await makeDataDir();
    platform = await startPlatform({
      dataDir: dataDir.path,
      env: { SERVICE_CLIENTS: `notes:${CLIENT_SECRET}` },
    });
    project = join(folder, 'project');
    await makeRelease('one');
    await installPackages();
    await platform.settled;
    session = await openSession();
  }, START_MS);
  afterEach(() => {
    for (const program of programs.splice(0)) program.kill('SIGKILL');
  });
  afterAll(async () => {
    platform.child.kill('SIGTERM');
    await platform.exited;
    await dataDir.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Installs the packages in an empty project, each with its dependencies in a separate folder, so that none
   * finds those of another. The programs of a README are there as `<package>-<number>.mjs`.
   */
  async function installPackages(): Promise<void> {
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    const packages = ['clients', 'crawl-worker', 'events', 'auth'];
    const tarballs = packages.map((name) => join(folder, 'one', 'npm', `platform-${name}-0.1.0.tgz`));
    const options = ['--install-strategy=nested', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, ...tarballs, 'fastify@5'], { cwd: project });
    for (const name of packages) {
      const readme = await readFile(join(project, 'node_modules/@platform', name, 'README.md'), 'utf8');
      for (const [index, [, program = '']] of [...readme.matchAll(/```js\n(.*?)```/gs)].entries())
        await writeFile(join(project, `${name}-${index + 1}.mjs`), program);
    }
  }

  /** Starts a program in its project. */
  function start(program: string, env: NodeJS.ProcessEnv, command = process.execPath) {
    const child = spawn(command, [program], {
      cwd: project,
      env: { PATH: process.env['PATH'], PLATFORM_URL: `http://127.0.0.1:${platform.port}`, ...env },
    });
    programs.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const waitForEnd = async (): Promise<number | null> => {
      await waitFor(() => child.exitCode !== null, { what: `the end of ${program}` });
      return child.exitCode;
    };
    return {
      output: () => output,
      waitForEnd,
      stop: () => {
        child.kill('SIGTERM');
        return waitForEnd();
      },
    };
  }

  test('the same commit gives the same bytes, which the checksums describe', async () => {
    await makeRelease('two');
    const read = (name: string) => readFile(join(folder, name, 'SHA256SUMS'), 'utf8');
    expect(await read('two')).toBe(await read('one'));
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: join(folder, 'one') });
    const files = await readdir(join(folder, 'one'), { recursive: true, withFileTypes: true });
    const described = (await read('one')).trim().split('\n');
    expect(described).toHaveLength(files.filter((file) => file.isFile()).length - 1);
  });

  test('an image that has grown by more than 5 % stops a release, until its size is accepted', async () => {
    const { assertSizes } = (await import(join(ROOT, 'packages/release/images.mjs'))) as {
      assertSizes(sizes: readonly object[], isRenewing: boolean, file: string): Promise<void>;
    };
    const file = join(folder, 'sizes.json');
    await writeFile(file, '{}');
    const compare = (size: number, isRenewing = false) =>
      assertSizes([{ service: 'mail', platform: 'linux/amd64', size }], isRenewing, file);
    await compare(100e6);
    await compare(100e6, true);
    await compare(105e6);
    await expect(compare(106e6)).rejects.toThrow('mail for linux/amd64 has 106.0 MB, and had 100.0 MB');
    await compare(106e6, true);
    await compare(106e6);
  });

  test('OPS-11 a base that has been behind its tag for more than 60 days stops a release', async () => {
    const { describeStaleBases } = (await import(join(ROOT, 'packages/release/bases.mjs'))) as {
      describeStaleBases(bases: readonly object[], nowSeconds: number): string[];
    };
    const now = 1_800_000_000;
    const describeBase = (current: string, days: number) =>
      describeStaleBases(
        [{ tag: 'node:24', digest: 'sha256:a', current, pinnedAt: now - days * 86_400 }],
        now,
      );
    expect(describeBase('sha256:a', 400)).toEqual([]);
    expect(describeBase('sha256:b', 60)).toEqual([]);
    expect(describeBase('sha256:b', 61)).toEqual(['node:24 was pinned 61 days ago, and is sha256:b today']);
  });

  test('a version that no package.json names, or none, is refused with what to do', async () => {
    await expect(release('9.9.9', '--output', join(folder, 'none'))).rejects.toThrow(
      /--rehearsal|do not name version 9/,
    );
    await expect(release('latest')).rejects.toThrow('A version such as 0.1.0 is missing');
    await expect(release('0.1.0', '--rehearsal', '--output', ROOT)).rejects.toThrow('other than a release');
  });

  interface Container {
    image: string;
    build?: unknown;
    pull_policy?: unknown;
    entrypoint?: string[];
    command?: string[];
    tmpfs?: string[];
    environment?: Record<string, string>;
    volumes?: (string | { type: string; source: string })[];
  }
  interface Compose {
    readonly services: Readonly<Record<'databases' | 'gateway', Container>> & Record<string, Container>;
  }
  const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

  /** Leaves out what the release's Compose file says in another way: how images and files get there. */
  function toComparable(source: string) {
    const {
      services,
      'x-migration': _migration,
      ...rest
    } = parse(source, { merge: true }) as Compose & Record<string, unknown>;
    const comparable = Object.entries(services).map(([name, container]) => {
      const { build: _build, pull_policy: _policy, image, ...kept } = container;
      return [name, { ...kept, image: image.replace(/^.*\/(identity|mail|crawl):.*$/, '$1') }] as const;
    });
    const { databases, gateway, ...others } = Object.fromEntries(comparable);
    const { command: _command, entrypoint: _entrypoint, volumes = [], ...database } = databases ?? {};
    const { entrypoint: _start, volumes: _files, environment, tmpfs = [], ...proxy } = gateway ?? {};
    const { GATEWAY_TEMPLATE: _template, ...settings } = environment ?? {};
    return {
      ...rest,
      ...others,
      databases: {
        ...database,
        volumes: volumes.filter((mount) => typeof mount === 'string' || mount.type !== 'bind'),
      },
      gateway: { ...proxy, settings, tmpfs: tmpfs.filter((path) => !path.includes('/templates:')) },
    };
  }

  test('the Compose file of a release is that of the repository, and needs nothing of the clone', async () => {
    const made = await readFile(join(folder, 'one/compose/docker-compose.yml'), 'utf8');
    const source = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');
    expect(toComparable(made)).toEqual(toComparable(source));
    const { services } = parse(made, { merge: true }) as Compose;
    for (const [name, { build, pull_policy: policy, volumes = [] }] of Object.entries(services)) {
      expect([name, build, policy]).toEqual([name, undefined, undefined]);
      for (const mount of volumes)
        expect(typeof mount === 'string' ? mount : mount.source).toMatch(/^[a-z]+(?::|$)/);
    }
    for (const name of ['identity', 'mail', 'crawl'])
      for (const container of [name, `migrate-${name}`])
        expect(services[container]?.image).toBe(`\${PLATFORM_IMAGES:-ghcr.io/acme}/${name}:0.1.0`);
    const unescape = (text = '') => text.replaceAll('$$', '$');
    const read = (file: string) => readFile(join(ROOT, 'packages/config', file), 'utf8');
    const { databases, gateway } = services;
    expect(unescape(databases.command?.[0])).toBe(await read('compose/databases.sh'));
    expect(unescape(gateway.environment?.['GATEWAY_TEMPLATE'])).toBe(
      await read('gateway/nginx.conf.template'),
    );
    expect(unescape(gateway.entrypoint?.[2])).toContain(await read('gateway/trusted-proxies.sh'));
    const settings = await readFile(join(folder, 'one/compose/.env'), 'utf8');
    expect(new Set(names(settings, /^([A-Z_]+)=/gm))).toEqual(new Set(names(made, /(?<!\$)\$\{(\w+):-/g)));
  });

  test('the chart names the version and the images of the release, as the manifests do', async () => {
    const chart = join(folder, 'one/chart/platform-0.1.0.tgz');
    const about = parse((await run('helm', ['show', 'chart', chart])).stdout) as {
      version: string;
      appVersion: string;
    };
    expect(about).toMatchObject({ version: '0.1.0', appVersion: '0.1.0' });
    const files = await readdir(join(folder, 'one/manifests'));
    expect(files.toSorted()).toEqual(['existing-services.yaml', 'production.yaml']);
    for (const name of files) {
      const manifests = await readFile(join(folder, 'one/manifests', name), 'utf8');
      const images = [...manifests.matchAll(/image: (\S+)/g)].map(([, image]) => image);
      expect(new Set(images)).toEqual(
        new Set(['identity', 'mail', 'crawl'].map((service) => `ghcr.io/acme/${service}:0.1.0`)),
      );
      expect(manifests).toContain('TRUST_PROXY: "RANGES-OF-THE-GATEWAY-AND-OF-IDENTITY"');
    }
  });

  test("the chart's test does the main job, takes back what it makes, and says what is wrong", async () => {
    const script = await readFile(join(ROOT, 'k8s/chart/files/main-job.mjs'), 'utf8');
    const url = `http://127.0.0.1:${platform.port}`;
    const file = join(folder, 'password');
    const runJob = async (password: string) => {
      await writeFile(file, password);
      const env = {
        ...Object.fromEntries(['IDENTITY', 'MCP', 'MAIL', 'CRAWL'].map((name) => [`${name}_URL`, url])),
        ADMIN_EMAIL: printed(platform, 'Admin'),
        ADMIN_PASSWORD_FILE: file,
        CONNECTOR: 'db_1',
      };
      return run(process.execPath, ['--input-type=module', '--eval', script], { env });
    };
    const { stdout } = await runJob(printed(platform, 'Password'));
    expect(stdout.match(/^ok/gm)).toHaveLength(5);
    const left = await call('GET', '/api/v1/personal-access-tokens');
    expect(JSON.stringify(left.body)).not.toContain('helm test');
    expect((await call('GET', `${CRAWL}/db_1/instances/helm-test`)).status).toBe(404);
    await expect(runJob('wrong')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^FAIL {2}identity answered POST \/api\/v1\/auth\/login with 401/),
    });
  });

  const daily = { scheduleConfig: { scheduleType: 'daily', hour: 2, minute: 15 }, worker: 'pull' };

  test('the clients show who a token acts as, and its schedules', async () => {
    await call('POST', `${CRAWL}/wiki_1/schedule`, daily);
    const good = start('clients-1.mjs', { PLATFORM_TOKEN: await createBearer('user:read', 'crawl:read') });
    await good.waitForEnd();
    expect(good.output()).toMatch(/^acting as admin@example\.com\ncrawl-wiki_1: next run \d{4}-/);
    const bad = start('clients-1.mjs', { PLATFORM_TOKEN: 'x' });
    expect([await bad.waitForEnd(), bad.output()]).toEqual([1, expect.stringContaining('(refused)')]);
  });

  test('the worker kit crawls a folder until it is stopped, and the consumer helper gets the event', async () => {
    const texts = join(folder, 'texts');
    await mkdir(texts);
    for (const name of ['a.txt', 'b.txt']) await writeFile(join(texts, name), 'hello');
    const env = { PLATFORM_TOKEN: await createBearer('crawl:work'), FOLDER: texts };
    const worker = start('crawl-worker-1.mjs', env);
    await call('POST', `${CRAWL}/files_1/schedule`, daily);
    const { runId } = (await call('POST', `${CRAWL}/files_1/run`)).body.data;
    const isCompleted = async () =>
      (await call('GET', `${CRAWL}/files_1/runs/${runId}`)).body.data.outcome === 'completed';
    await waitFor(isCompleted, { what: 'the run' });
    expect(worker.output()).toBe('index a.txt\nindex b.txt\n');
    expect(await worker.stop()).toBe(0);

    const consumer = start('events-1.mjs', { PLATFORM_TOKEN: await createBearer('crawl:read') });
    await waitFor(() => existsSync(join(project, 'cursor')), { what: 'the cursor' });
    // The job of `helm test` has left an event, too.
    expect(consumer.output()).toMatch(/^SyncFiles1Event of \S+: index files_1 \(\S+\)$/m);
    expect(await consumer.stop()).toBe(0);
  });

  /** Identity's own address, which the launcher chooses. */
  async function findIdentityUrl(): Promise<string> {
    const log = await readFile(join(dataDir.path, 'logs/identity.log'), 'utf8');
    return `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}`;
  }

  test('the auth package lets a service of others accept tokens until they are revoked', async () => {
    const identityUrl = await findIdentityUrl();
    for (const program of ['auth-1.mjs', 'auth-2.mjs']) {
      const port = await findFreePort();
      const env = { IDENTITY_URL: identityUrl, CLIENT_SECRET, PORT: String(port) };
      const service = start(program, env);
      const readNotes = (token?: string) =>
        callUrl(`http://127.0.0.1:${port}/notes`, 'GET', { ...(token && { token }) });
      await waitFor(() => readNotes().then(Boolean, () => false), {
        what: `the service: ${service.output()}`,
      });
      const good = await createToken(['kb:read']);
      const { status, body } = await readNotes(good.accessToken);
      expect([status, body]).toEqual([200, { readableBy: 'admin@example.com', orgId: expect.any(String) }]);
      expect((await readNotes(await createBearer('user:read'))).status).toBe(403);
      const missing = await readNotes();
      expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="platform"',
      ]);
      await call('DELETE', `/api/v1/personal-access-tokens/${good.id}`);
      expect((await readNotes(good.accessToken)).status).toBe(401);
      expect(await service.stop()).toBe(0);
    }
  });

  test('the wheel gives Python typed clients and the worker kit', async () => {
    const texts = join(folder, 'python-texts');
    await mkdir(texts);
    await writeFile(join(texts, 'c.txt'), 'hello');
    await run('python3', ['-m', 'venv', join(project, 'venv')]);
    const [wheel = ''] = await readdir(join(folder, 'one/python'));
    const python = join(project, 'venv/bin/python');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await run(python, [...pip, join(folder, 'one/python', wheel), 'mypy==2.4.1']);
    const readme = await readFile(join(ROOT, 'packages/release/python/README.md'), 'utf8');
    for (const [index, [, program = '']] of [...readme.matchAll(/```python\n(.*?)```/gs)].entries())
      await writeFile(join(project, `program_${index + 1}.py`), program);
    await run(python, ['-m', 'mypy', '--strict', 'program_1.py', 'program_2.py'], { cwd: project });

    const env = { PLATFORM_TOKEN: await createBearer('user:read', 'crawl:read') };
    const client = start('program_1.py', env, python);
    await client.waitForEnd();
    expect(client.output()).toMatch(/^acting as admin@example\.com\n(?:crawl-\w+: next run \d{4}-.*\n)*$/);
    const work = { PLATFORM_TOKEN: await createBearer('crawl:work'), FOLDER: texts };
    const worker = start('program_2.py', work, python);
    await call('POST', `${CRAWL}/files_1/schedule`, daily);
    await call('POST', `${CRAWL}/files_1/run`);
    await waitFor(() => worker.output() !== '', { what: 'the crawl' });
    expect(worker.output()).toBe('index c.txt\n');
    expect(await worker.stop()).toBe(0);
  });

  test('a change that the version does not allow is found, and has to be in the changelog', async () => {
    const clone = join(folder, 'clone');
    await mkdir(clone);
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: clone });
    const services = ['identity', 'mail', 'crawl'].map((service) => `services/${service}/openapi.json`);
    const schema = 'k8s/chart/values.schema.json';
    const others = [schema, '.env.example', 'packages/release/exports.json', 'package.json', 'CHANGELOG.md'];
    for (const file of [...services, ...others]) await cp(join(ROOT, file), join(clone, file));
    await git('init', '--quiet');
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'x');
    const compare = () => run(process.execPath, [join(ROOT, 'packages/release/compare.mjs'), clone]);
    const setVersion = (version: string) =>
      writeFile(join(clone, 'package.json'), JSON.stringify({ version }));
    expect((await compare()).stdout).toContain('no release before');
    await git('tag', 'v0.1.0');
    await setVersion('0.1.1');
    expect((await compare()).stdout).toContain('Nothing breaks');

    const edit = async (file: string, change: (text: string) => string) =>
      writeFile(join(clone, file), change(await readFile(join(clone, file), 'utf8')));
    await edit('services/crawl/openapi.json', (text) =>
      text.replace('crawlingManager/schedule/all', 'crawlingManager/schedule/each'),
    );
    await edit('.env.example', (text) => text.replace('AUDIT_DAYS=', ''));
    await edit(schema, (text) => text.replace('"pullSecrets"', '"secretNames"'));
    await edit('packages/release/exports.json', (text) => text.replace('"followEvents",', ''));
    const found =
      /schedule\/all.*A variable is gone: AUDIT_DAYS.*images\.pullSecrets.*followEvents of @platform\/events.*/s;
    await expect(compare()).rejects.toMatchObject({
      stderr: expect.stringMatching(new RegExp(`${found.source}raise the version`, 's')),
    });
    await setVersion('0.2.0');
    await expect(compare()).rejects.toMatchObject({
      stderr: expect.stringContaining('list it under **Breaking**'),
    });
    await edit('CHANGELOG.md', (text) =>
      text.replace('## 0.1.0', '## 0.2.0 (unreleased)\n\n**Breaking**: much\n\n## 0.1.0'),
    );
    expect((await compare()).stdout).toMatch(found);
  });

  const getDocument = (service: string) => join(ROOT, 'services', service, 'openapi.json');
  /** Runs a tool; its error contains the end of what it says. */
  const runTool = async (program: string, args: readonly string[]): Promise<string> => {
    const { stdout } = await run(program, args, { cwd: folder, maxBuffer: 64 * 1_048_576 }).catch(
      (error: unknown) => {
        const said = error as { stdout: string; stderr: string };
        throw new Error(`${program} failed:\n${(said.stdout + said.stderr).slice(-8_000)}`);
      },
    );
    return stdout;
  };

  test.each(['mail', 'crawl', 'identity'])('the document of %s yields a Go client of all its operations', async (service) => {
    const args = ['-generate', 'types,client', '-package', service, getDocument(service)];
    const source = await runTool('oapi-codegen', args);
    const document = await readFile(getDocument(service), 'utf8');
    const ids = names(document, /"operationId": ?"(\w+)"/g);
    expect(ids.length).toBeGreaterThan(10);
    for (const id of ids) expect(source).toContain(`${id[0]?.toUpperCase()}${id.slice(1)}(ctx context.Context`);
  }); // oxfmt-ignore

  /** Creates one of what an operation names by its id; the fuzzer finds the ids in the lists. */
  async function createResources(): Promise<void> {
    const succeed = async (path: string, body: object) => {
      const { status, body: answer } = await call('POST', path, body);
      if (status >= 300) throw new Error(`${path} answered ${status}`);
      return answer;
    };
    const { user } = await succeed('/api/v1/users', {
      email: 'fuzz@example.com',
      fullName: 'Fuzz',
      password: randomUUID(),
    });
    const { group } = await succeed('/api/v1/groups', { name: 'Fuzz' });
    await succeed(`/api/v1/groups/${group.id}/members`, { members: [user.id] });
    const { serviceAccount } = await succeed('/api/v1/service-accounts', { name: 'Fuzz' });
    await succeed(`/api/v1/service-accounts/${serviceAccount.id}/tokens`, {
      name: 'Fuzz',
      scopes: ['crawl:read'],
    });
    await createToken(['user:read']);
  }

  // Identity comes last: the fuzzer finds members and what they have, and removes it.
  test.each(['mail', 'crawl', 'identity'])('OPS-57: %s conforms to its document for generated requests of each operation', async (service) => {
    if (service === 'identity') await createResources();
    const createSender = () => createBearer('SEND_MAIL', 'FETCH_CONFIG');
    const createOwn = () => createBearer('pat:read', 'pat:write');
    const { chosen, tried } = await fuzz({
      service,
      document: getDocument(service),
      url: `http://127.0.0.1:${platform.port}`,
      openSession,
      apart: {
        endSession: openSession,
        endUserSessions: openSession,
        logout: openSession,
        reportBounces: createSender,
        sendEmail: createSender,
        updateSmtpConfig: createSender,
        getOwnCredential: createOwn,
        revokeOwnCredential: createOwn,
        rotateOwnCredential: createOwn,
        // It can require a second factor, which nobody here has.
        saveSignInConfig: openSession,
      },
      folder,
    });
    expect(tried.toSorted()).toEqual(chosen.toSorted());
  }); // oxfmt-ignore
});
