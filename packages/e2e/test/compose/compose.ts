import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { SERVICES } from '@platform/local/services';
import { root } from '../deploy/kustomize.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;

/** Avoids the platform's own 172.16.203.0/24 and, if possible, the subnets of other test runs. */
const chooseSubnet = (): string => `172.16.${process.pid % 200}.0/24`;

/** The Compose file as a project with its own ports, volumes, network and images. */
export interface ComposeProject {
  /** The URL of the gateway. */
  readonly url: string;
  /** Runs `docker compose` with these arguments. @returns what it printed. */
  compose(...args: string[]): Promise<string>;
  /** Runs the program that backs up, restores and upgrades. */
  manage(action: 'backup' | 'restore' | 'upgrade', file: string): Promise<unknown>;
  /** Returns the names of the containers' volumes, including those of containers that have ended. */
  mounts(): Promise<string[]>;
  /** Stops and removes everything but the images. */
  remove(): Promise<void>;
}

export async function createComposeProject(): Promise<ComposeProject> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-compose-'));
  const [gatewayPort, catcherPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${gatewayPort}`;
  const subnet = chooseSubnet();
  const own: Readonly<Record<string, string>> = {
    // A platform that runs on this machine keeps its images.
    ...Object.fromEntries(
      SERVICES.map(({ name }) => [`${name.toUpperCase()}_IMAGE`, `platform/${name}:test`]),
    ),
    PLATFORM_SUBNET: subnet,
    TRUST_PROXY: subnet,
    GATEWAY_PORT: String(gatewayPort),
    MAIL_CATCHER_PORT: String(catcherPort),
    PUBLIC_URL: url,
  };
  const example = await readFile(join(root, '.env.example'), 'utf8');
  const settings = example.replaceAll(/^(\w+)=.*$/gm, (line, name: string) =>
    name in own ? `${name}=${own[name]}` : line,
  );
  const envFile = join(folder, 'env');
  await writeFile(envFile, settings);
  const name = `platform-test-${process.pid}`;
  const project = ['compose', '--project-name', name, '--env-file', envFile];
  const docker = async (...args: string[]): Promise<string> =>
    (await run('docker', args, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  const compose = (...args: string[]): Promise<string> => docker(...project, ...args);
  return {
    url,
    compose,
    manage: (action, file) =>
      run('sh', ['packages/release/compose/platform.sh', action, file], {
        cwd: root,
        env: { ...process.env, COMPOSE_PROJECT_NAME: name, COMPOSE_ENV_FILES: envFile },
        maxBuffer: MAX_OUTPUT_BYTES,
      }),
    async mounts() {
      const containers = (await compose('ps', '--all', '--quiet')).trim().split('\n');
      const format = '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name}}{{end}}{{end}}';
      return (await docker('inspect', '--format', format, ...containers)).split('\n').filter(Boolean);
    },
    async remove() {
      await compose('down', '--volumes', '--remove-orphans');
      await rm(folder, { recursive: true });
    },
  };
}
