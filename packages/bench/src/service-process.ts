import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@platform/embedded';
import { onServerCore } from './cores.js';

const READY_TIMEOUT_MS = 120_000;

export type Core = 'server' | 'load';

export interface ServiceProcess {
  readonly url: string;
  /** The peak of resident memory in MiB (NaN except on Linux). */
  residentPeakMib(): Promise<number>;
  /** The resident memory in MiB (NaN except on Linux). */
  residentMib(): Promise<number>;
  /** Can be called more than once. */
  stop(): Promise<void>;
}

async function waitUntilAnswers(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the process of ${url} exited with code ${child.exitCode}`);
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not listening yet.
    }
    if (Date.now() > deadline) throw new Error(`${url} was not ready within ${READY_TIMEOUT_MS} ms`);
    await delay(50);
  }
}

/** Starts a Node program on the load's core, where everything runs that is not measured. */
export const startChild = (program: readonly string[]): ChildProcess =>
  spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'inherit'] });

/** Starts a Node program, by default on the server's core, and waits until `readyPath` responds. */
export async function startProcess(
  program: readonly string[],
  port: number,
  readyPath: string,
  environment: NodeJS.ProcessEnv,
  core: Core = 'server',
): Promise<ServiceProcess> {
  const nodeProgram = [process.execPath, ...program];
  const [command = '', ...args] = core === 'server' ? onServerCore(nodeProgram) : nodeProgram;
  const child = spawn(command, args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilAnswers(url + readyPath, child).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const readMib = async (line: RegExp) => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    return Number(line.exec(status)?.[1] ?? Number.NaN) / 1_024;
  };
  return {
    url,
    residentPeakMib: () => readMib(/VmHWM:\s+(\d+)/),
    residentMib: () => readMib(/VmRSS:\s+(\d+)/),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Starts a program that takes its port as an argument and responds to `GET /`. */
export async function startProgram(file: URL, core?: Core): Promise<ServiceProcess> {
  const port = await findFreePort();
  const environment = { PATH: process.env.PATH, NODE_ENV: 'production' };
  return startProcess([fileURLToPath(file), String(port)], port, '/', environment, core);
}

/** Starts the bare Fastify server that services are compared with, on the server's core. */
export const startBaseline = (): Promise<ServiceProcess> =>
  startProgram(new URL('baseline.js', import.meta.url));
