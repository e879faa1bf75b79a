import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';
import { root } from '../deploy/chart.js';

/**
 * Ways to enter a process namespace, in which the first process is number 1 as in a container: as root, and as an
 * ordinary user.
 */
const unshare = [
  ['--pid', '--fork', '--kill-child'],
  ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'],
].find((flags) => spawnSync('unshare', [...flags, 'true'], { stdio: 'ignore' }).status === 0);

/** The kind of process that the tests run: an ordinary one where the machine permits no namespace. */
export const processKind = unshare ? 'process 1' : 'an ordinary process (unshare is not permitted here)';

/** The line on stdout with which the program reports that it handles SIGTERM. */
const HANDLED = 'SIGTERM is handled';
const sayHandled = `process.on('newListener', (name) => { if (name === 'SIGTERM') process.stdout.write('${HANDLED}\\n') })`;

/** A program of a built service, running as process 1. */
export interface ProcessOne {
  output(): string;
  /** Resolves when the program handles signals, before it has loaded its other modules. */
  untilHandled(): Promise<unknown>;
  /** Sends SIGTERM to the program. @returns its exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export function startProcessOne(
  service: string,
  [program, ...args]: readonly ['cli.js' | 'server.js', ...string[]],
  env: NodeJS.ProcessEnv,
): ProcessOne {
  // oxfmt-ignore
  const node = [
    process.execPath, '--import', `data:text/javascript,${encodeURIComponent(sayHandled)}`,
    join(root, 'services', service, 'dist', program), ...args,
  ];
  const [command = '', ...rest] = unshare ? ['unshare', ...unshare, ...node] : node;
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const exited = once(child, 'close') as Promise<[number | null]>;
  const { pid } = child;
  /** Finds the pid of the program itself outside the namespace; unshare waits for it. */
  const findPid = async (): Promise<number | undefined> =>
    unshare ? Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')) : pid;
  const until = (text: string) => waitFor(() => output.includes(text), { what: `"${text}" in the output` });
  return {
    output: () => output,
    untilHandled: () => until(HANDLED),
    async stop() {
      process.kill((await findPid()) ?? NaN, 'SIGTERM');
      return (await exited)[0];
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}
