import { execFileSync } from 'node:child_process';
import { availableParallelism, platform } from 'node:os';

/** The server has a core of its own; the load and the backing services share the other. */
const SERVER_CORE = 0;
const LOAD_CORE = 1;

/** Of the machine. Asked before anything is pinned: `availableParallelism` counts those that this process may use. */
export const coreCount = availableParallelism();
const isPinnable = platform() === 'linux' && coreCount >= 2;

export const canPin = (): boolean => isPinnable;

/** Puts this process, and what it starts from now on, on the core of the load. */
export function pinThisProcess(): void {
  if (canPin())
    execFileSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' });
}

/** A command line that runs on the core of the server. */
export const onServerCore = (command: readonly string[]): readonly string[] =>
  canPin() ? ['taskset', '-c', String(SERVER_CORE), ...command] : command;
