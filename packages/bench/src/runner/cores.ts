import { execFileSync } from 'node:child_process';
import { availableParallelism, platform } from 'node:os';

/** The server has its own core; the load and the backing services share the other. */
const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** Read before pinning, because `availableParallelism` counts only the cores that this process may use. */
export const coreCount = availableParallelism();
const isPinnable = platform() === 'linux' && coreCount >= 2;

export const canPin = (): boolean => isPinnable;

/** Pins this process, and the processes that it starts from now on, to the load's core. */
export function pinThisProcess(): void {
  if (canPin())
    execFileSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' });
}

/** Makes a command line run on the server's core. */
export const onServerCore = (command: readonly string[]): readonly string[] =>
  canPin() ? ['taskset', '-c', String(SERVER_CORE), ...command] : command;
