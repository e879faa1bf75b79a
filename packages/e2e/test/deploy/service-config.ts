import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './chart.js';

export interface ConfigAnswer {
  /** Names of all variables of the service. */
  readonly names: readonly string[];
  /** "required", "optional" or "default …", by name. */
  readonly defaults: ReadonlyMap<string, string>;
  /** Empty when the service would start with this environment. */
  readonly faults: string;
}

/** Runs the command `config` in one process, once for each environment. Prints a JSON array of what it writes. */
const CHECK_ALL = `
  const [node, program, text] = process.argv;
  const { main } = await import(program);
  const answers = [];
  const write = (stream) => (chunk) => void (answers.at(-1)[stream] += chunk);
  const { write: print } = process.stdout;
  process.stdout.write = write('stdout');
  process.stderr.write = write('stderr');
  for (const environment of JSON.parse(text)) {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment);
    answers.push({ stdout: '', stderr: '' });
    process.argv = [node, 'cli.js', 'config'];
    await main().catch((error) => process.stderr.write(String(error)));
  }
  print.call(process.stdout, JSON.stringify(answers));`;

/** Runs the service's own command, which describes its variables and checks an environment. */
export async function askConfig(
  service: string,
  environments: readonly NodeJS.ProcessEnv[],
): Promise<ConfigAnswer[]> {
  const program = join(root, 'services', service, 'dist/commands.js');
  const args = ['--input-type=module', '--eval', CHECK_ALL, program, JSON.stringify(environments)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  return (JSON.parse(stdout) as { stdout: string; stderr: string }[]).map((answer) => {
    const rows = answer.stdout.split('\n').flatMap((line) => {
      const [name, fallback = ''] = line.split('\t');
      return name ? [[name, fallback] as const] : [];
    });
    return { names: rows.map(([name]) => name), defaults: new Map(rows), faults: answer.stderr };
  });
}

const secret = 's'.repeat(40);
const secrets: Readonly<Record<string, string>> = {
  'database-url': 'postgresql://service:password@postgres:5432/service',
  'encryption-keys': `k1:${Buffer.alloc(32).toString('base64')}`,
  'service-clients': `mail:${secret},crawl:${secret}`,
  'client-secret': secret,
  'admin-password': 'a-good-password',
  'redis-url': 'redis://:password@redis:6379/0',
};

/** Creates files like those mounted at `/run/platform`, and redirects an environment that names them. */
export function mountSecrets(): { redirect(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'platform-secrets-'));
  mkdirSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), value);
  return {
    redirect: (env) =>
      Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value?.replace('/run/platform', folder)]),
      ),
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}
