import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { SERVICES } from '@platform/local/services';
import { root } from '../deploy/chart.js';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;

/** Avoids the platform's own 172.16.203.0/24 and, if possible, the subnets of other test runs. */
const chooseSubnet = (): string => `172.16.${process.pid % 200}.0/24`;

/** A Compose file as a project with its own ports, volumes, network and images. */
export interface ComposeProject {
  /** The folder that the commands run in. */
  readonly folder: string;
  /** The URL of the gateway. */
  readonly url: string;
  /** Runs `docker compose` with these arguments. @returns what it printed. */
  compose(...args: string[]): Promise<string>;
  /** Runs the program of a release that backs up, restores and upgrades. */
  manage(action: 'backup' | 'restore' | 'upgrade', file: string): Promise<unknown>;
  /** Returns the names of the containers' volumes, including those of containers that have ended. */
  mounts(): Promise<string[]>;
  /** Stops and removes everything but the images. */
  remove(): Promise<void>;
}

/** The tag of the images that these tests build: a platform that runs on this machine keeps its own. */
export const TEST_VERSION = 'test';

/** Writes the Compose file of a release, its settings and its program. @returns the text of the settings. */
export async function writeRelease(folder: string, version: string): Promise<string> {
  const { writeComposeFile } = (await import(join(root, 'packages/release/compose-file.mjs'))) as {
    writeComposeFile(about: { version: string; images: string; folder: string }): Promise<unknown>;
  };
  await rm(join(folder, 'compose'), { recursive: true, force: true });
  await writeComposeFile({ version, images: 'platform', folder });
  return readFile(join(folder, 'compose/.env'), 'utf8');
}

/** @param source - the repository's Compose file, or that of a release in a folder without anything else */
export async function createComposeProject(source: 'repository' | 'release'): Promise<ComposeProject> {
  const temporary = await mkdtemp(join(tmpdir(), 'platform-compose-'));
  const [gatewayPort, catcherPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${gatewayPort}`;
  const subnet = chooseSubnet();
  const own: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      SERVICES.map(({ name }) => [`${name.toUpperCase()}_IMAGE`, `platform/${name}:${TEST_VERSION}`]),
    ),
    PLATFORM_SUBNET: subnet,
    TRUST_PROXY: subnet,
    GATEWAY_PORT: String(gatewayPort),
    MAIL_CATCHER_PORT: String(catcherPort),
    PUBLIC_URL: url,
  };
  const isRelease = source === 'release';
  const example = isRelease
    ? await writeRelease(temporary, TEST_VERSION)
    : await readFile(join(root, '.env.example'), 'utf8');
  const settings = example.replaceAll(/^(\w+)=.*$/gm, (line, name: string) =>
    name in own ? `${name}=${own[name]}` : line,
  );
  const folder = isRelease ? join(temporary, 'compose') : root;
  const envFile = isRelease ? join(folder, '.env') : join(temporary, 'env');
  await writeFile(envFile, settings);
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: `platform-test-${process.pid}-${source}`,
    ...(!isRelease && { COMPOSE_ENV_FILES: envFile }),
  };
  const execute = async (program: string, ...args: string[]): Promise<string> =>
    (await run(program, args, { cwd: folder, env, maxBuffer: MAX_OUTPUT_BYTES })).stdout;
  const compose = (...args: string[]): Promise<string> => execute('docker', 'compose', ...args);
  return {
    folder,
    url,
    compose,
    manage: (action, file) => execute('sh', 'platform.sh', action, file),
    async mounts() {
      const containers = (await compose('ps', '--all', '--quiet')).trim().split('\n');
      const format = '{{range .Mounts}}{{if eq .Type "volume"}}{{println .Name}}{{end}}{{end}}';
      return (await execute('docker', 'inspect', '--format', format, ...containers))
        .split('\n')
        .filter(Boolean);
    },
    async remove() {
      await compose('down', '--volumes', '--remove-orphans');
      await rm(temporary, { recursive: true });
    },
  };
}
