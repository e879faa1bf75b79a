import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@platform/embedded';
import { root } from '../deploy/kustomize.js';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 64 * 1_024 * 1_024;

/** The Compose file under a project's name, with ports and volumes of its own. */
export interface ComposeProject {
  /** Of the gateway. */
  readonly url: string;
  /** Runs `docker compose` with these arguments. @returns what it printed. */
  compose(...args: string[]): Promise<string>;
  /** Ends and removes everything but the images. */
  remove(): Promise<void>;
}

export async function createComposeProject(): Promise<ComposeProject> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-compose-'));
  const [gatewayPort, catcherPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${gatewayPort}`;
  const own: Readonly<Record<string, string>> = {
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
  const project = ['compose', '--project-name', `platform-test-${process.pid}`, '--env-file', envFile];
  const compose = async (...args: string[]): Promise<string> => {
    const { stdout } = await run('docker', [...project, ...args], { cwd: root, maxBuffer: OUTPUT_BYTES_MAX });
    return stdout;
  };
  return {
    url,
    compose,
    async remove() {
      await compose('down', '--volumes', '--remove-orphans');
      await rm(folder, { recursive: true });
    },
  };
}
