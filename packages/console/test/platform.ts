import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePort } from '@platform/embedded';

const ROOT = resolve(__dirname, '../../..');
const READY = 'Stop with Ctrl-C';
const PASSWORD = 'correct-horse-battery';

export interface Person {
  readonly email: string;
  readonly password: string;
}

export const admin: Person = { email: 'admin@example.com', password: PASSWORD };

/** A platform as `npm start` runs it, with a gateway and all services. */
export interface Platform {
  readonly url: string;
  /** Calls the API with the session of a person; the administrator's by default. */
  call<Body>(method: string, path: string, body?: object, as?: Person): Promise<Body>;
  createMember(name: string): Promise<Person>;
  close(): Promise<void>;
}

/** @param env - variables of the services, beside those of every test. */
export async function startPlatform(env: Readonly<Record<string, string>> = {}): Promise<Platform> {
  const parent = await mkdtemp(join(tmpdir(), 'console-test-'));
  const port = await findFreePort();
  const options = {
    port,
    'inbox-port': await findFreePort(),
    'smtp-catcher-port': await findFreePort(),
    'data-dir': join(parent, 'data'),
    'admin-password': PASSWORD,
  };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, ['packages/local/start.mjs', ...flags], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      DATABASE_TIMEOUT_MS: '5000',
      SMTP_CONFIG_MAX_AGE_MS: '0',
      MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8',
      ...env,
    },
  });
  const exited = once(child, 'close');
  await waitUntilReady(child.stdout, child.stderr, exited);
  const url = `http://localhost:${port}`;
  return {
    ...createClient(url),
    url,
    async close() {
      child.kill('SIGTERM');
      await exited;
      await rm(parent, { recursive: true, force: true });
    },
  };
}

async function waitUntilReady(
  stdout: NodeJS.ReadableStream,
  stderr: NodeJS.ReadableStream,
  exited: Promise<unknown>,
): Promise<void> {
  let output = '';
  const ready = new Promise<void>((done) => {
    for (const stream of [stdout, stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(READY)) done();
      });
  });
  await Promise.race([ready, exited]);
  if (!output.includes(READY)) throw new Error(`the platform did not start:\n${output}`);
}

function createClient(url: string): Pick<Platform, 'call' | 'createMember'> {
  const sessions = new Map<string, string>();

  async function send(method: string, path: string, body: object | undefined, token = ''): Promise<Response> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  }

  async function getSession(person: Person): Promise<string> {
    const known = sessions.get(person.email);
    if (known !== undefined) return known;
    const response = await send('POST', '/api/v1/auth/login', person);
    const { accessToken } = (await response.json()) as { accessToken: string };
    sessions.set(person.email, accessToken);
    return accessToken;
  }

  async function call<Body>(method: string, path: string, body?: object, as = admin): Promise<Body> {
    const response = await send(method, path, body, await getSession(as));
    return (response.status === 204 ? undefined : await response.json()) as Body;
  }

  return {
    call,
    async createMember(name) {
      const person = { email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com`, password: PASSWORD };
      await call('POST', '/api/v1/users', { ...person, fullName: name });
      return person;
    },
  };
}
