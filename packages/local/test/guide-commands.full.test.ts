import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { makeDataDir, type Platform, printed, startPlatform } from './platform.js';

/* The curl commands of the guides, sent to a platform as a reader sends them: one shell for each guide, from top to bottom. */

const ROOT = resolve(import.meta.dirname, '../../..');
const START_MS = 240_000;
/** Where the guides call the platform. */
const PUBLIC = 'https://platform.example.com';

/** A response that a guide expects, besides success. */
const expected: Readonly<Record<string, readonly number[]>> = {
  // It shows the challenge of a request without a credential.
  'public-address.md': [401],
  // It approves a tool of a server that was mounted before, which another test does with a real one.
  'mcp-servers.md': [404],
};
/** What a reader has to replace. */
const filledIn: readonly (readonly [RegExp, string])[] = [
  [/"pat_…"/g, '"pat_0"'],
  [/<[a-z ]+>/g, 'filled-in'],
];

/** Writes the status of each request to descriptor 3, whatever becomes of its output. */
const curl = `#!/bin/sh
exec "$REAL_CURL" --write-out '%{stderr}%{http_code} %{method} %{url}\\n' "$@" 2>&3
`;

describe('the commands of the guides', () => {
  let platform: Platform;
  let folder: string;
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let env: NodeJS.ProcessEnv;

  const call = async <T>(path: string, body: object, token?: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${platform.port}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-guides-'));
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/curl'), curl);
    await chmod(join(folder, 'bin/curl'), 0o755);
    // What Google gives, for the command that sends it.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = {
      type: 'service_account',
      client_email: 'mail@project.iam.gserviceaccount.com',
      private_key_id: '1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: 'https://oauth2.googleapis.com/token',
    };
    await writeFile(join(folder, 'key.json'), JSON.stringify(key));
    dataDir = await makeDataDir();
    platform = await startPlatform({ dataDir: dataDir.path });
    await platform.settled;
    const credentials = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
    const { accessToken: session } = await call<{ accessToken: string }>('auth/login', credentials);
    const scopes = ['user:read', 'crawl:read', 'crawl:write', 'kb:read', 'access:read', 'SEND_MAIL'];
    const { token } = await call<{ token: { accessToken: string } }>(
      'personal-access-tokens',
      { name: 'guides', scopes },
      session,
    );
    const { serviceAccount: account } = await call<{ serviceAccount: { id: string } }>(
      'service-accounts',
      { name: 'guides', role: 'admin' },
      session,
    );
    const { application, clientSecret } = await call<{
      application: { clientId: string };
      clientSecret: string;
    }>(
      'oauth-applications',
      { name: 'guides', grantTypes: ['client_credentials'], scopes: ['crawl:read'], role: 'admin' },
      session,
    );
    const url = `http://127.0.0.1:${platform.port}`;
    env = {
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      REAL_CURL: process.env['REAL_CURL'] ?? '/usr/bin/curl',
      BASE: url,
      PLATFORM: url,
      PUBLIC_URL: url,
      PASSWORD: credentials.password,
      SESSION: session,
      TOKEN: token.accessToken,
      ACCOUNT_ID: account.id,
      CLIENT_ID: application.clientId,
      CLIENT_SECRET: clientSecret,
    };
  }, START_MS);
  afterAll(async () => {
    platform.child.kill('SIGTERM');
    await platform.exited;
    await dataDir.remove();
    await rm(folder, { recursive: true, force: true });
  });

  async function findCommands(guide: string): Promise<string> {
    const markdown = await readFile(join(ROOT, 'docs/connect', guide), 'utf8');
    const snippets = [...markdown.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].map(([, , code = '']) => code);
    const commands = snippets.filter((code) => /\bcurl\b/.test(code)).join('\n');
    // The platform under test has another address and password than the one that a reader starts.
    const own = commands
      .replace(/^(?:BASE=\S+|PASSWORD=.*)( |$)/gm, '')
      .replaceAll(PUBLIC, env['BASE'] ?? '');
    return filledIn.reduce((filled, [pattern, by]) => filled.replaceAll(pattern, by), own);
  }

  test('API-36 every request that a guide shows is answered as the guide says', async () => {
    const refused: string[] = [];
    let count = 0;
    for (const guide of (await readdir(join(ROOT, 'docs/connect'))).toSorted()) {
      const commands = await findCommands(guide);
      if (commands === '') continue;
      const shell = spawn('bash', ['-c', commands], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      const [output, , statuses] = await Promise.all(
        [1, 2, 3].map((stream) => text(shell.stdio[stream] as NodeJS.ReadableStream)),
      );
      for (const line of (statuses ?? '').split('\n').filter((one) => /^\d{3} /.test(one))) {
        count += 1;
        const status = Number(line.slice(0, 3));
        const isExpected = (status >= 200 && status < 300) || expected[guide]?.includes(status);
        if (!isExpected) refused.push(`${guide}: ${line}\n${output?.slice(-500)}`);
      }
    }
    expect(refused).toEqual([]);
    expect(count).toBeGreaterThan(15);
  });
});
