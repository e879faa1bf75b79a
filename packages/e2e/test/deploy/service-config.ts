import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from './chart.js';

export interface ConfigAnswer {
  /** Names of all variables of the service. */
  readonly names: readonly string[];
  /** "required", "optional" or "default …", by name. */
  readonly defaults: ReadonlyMap<string, string>;
  /** Empty when the service would start with this environment. */
  readonly faults: string;
}

/** Runs the service's own command, which describes its variables and checks an environment. */
export async function askConfig(service: string, env: NodeJS.ProcessEnv): Promise<ConfigAnswer> {
  const cli = join(root, 'services', service, 'dist/cli.js');
  const child = spawn(process.execPath, [cli, 'config'], { env });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const rows = stdout.split('\n').flatMap((line) => {
    const [name, fallback = ''] = line.split('\t');
    return name ? [[name, fallback] as const] : [];
  });
  return { names: rows.map(([name]) => name), defaults: new Map(rows), faults: stderr };
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
