import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../deploy/chart.js';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of a built service to its end, with exactly this environment. */
export async function runProgram(
  service: string,
  program: 'cli.js' | 'server.js',
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [join(root, 'services', service, 'dist', program), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

/** Runs `node dist/cli.js …` of a service. */
export const runCommand = (
  service: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> => runProgram(service, 'cli.js', args, env);
