import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { onServerCore } from '../runner/cores.js';

/** The measured server has one core to itself; everything else runs on the load's. */
export type Core = 'server' | 'load';
export type NodeServer = Awaited<ReturnType<typeof startNode>>;

/**
 * Starts a Node program that listens on `port` and logs when it is ready, by default on the server's core.
 *
 * @param environment - in place of this process's own.
 */
export async function startNode(
  program: readonly string[],
  port: number,
  { core = 'server', environment = {} }: { core?: Core | undefined; environment?: NodeJS.ProcessEnv } = {},
) {
  const command = [process.execPath, ...program];
  const { pid, stop } = await launchChildServer({
    name: program.at(-1) ?? 'Node',
    command: core === 'server' ? onServerCore(command) : command,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    ready: /\bready\b/,
    fault: /"level":"?(?:fatal|60)|Error/,
    onLog: (line) => {
      if (/"level":"(?:error|fatal)"|Warning: /.test(line)) process.stderr.write(`${line}\n`);
    },
    temporaryDir: undefined,
  });
  /** Reads a line of the kernel's status of the process. @returns MiB; NaN except on Linux. */
  const readMib = async (line: RegExp) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return Number(line.exec(status)?.[1] ?? Number.NaN) / 1_024;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid,
    residentMib: () => readMib(/VmRSS:\s+(\d+)/),
    residentPeakMib: () => readMib(/VmHWM:\s+(\d+)/),
    /** Can be called more than once. */
    stop,
  };
}

/** Starts a program of this package, which takes its port as the first argument. */
export async function startProgram(file: URL, core?: Core, args: readonly (string | number)[] = []) {
  const port = await findFreePort();
  const program = [fileURLToPath(file), ...[port, ...args].map(String)];
  return { ...(await startNode(program, port, { core })), port };
}
