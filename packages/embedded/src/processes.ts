import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the operating system says about a process that this program may not have started. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  /** Arguments separated by single spaces. */
  readonly command: string;
}

/** Describes a living process; undefined when it is gone or only waits to be reaped. */
export async function inspectProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    return process.platform === 'linux' ? await readProc(pid) : await askPs(pid);
  } catch {
    return undefined;
  }
}

// Not `ps`: slim Linux images lack it.
async function readProc(pid: number): Promise<ProcessInfo | undefined> {
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The program's name, in parentheses, may itself hold spaces and parentheses: read from the last one.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : { pid, parentPid: Number(parentPid), command };
}

async function askPs(pid: number): Promise<ProcessInfo | undefined> {
  const { stdout } = await run('ps', ['-o', 'ppid=,stat=,command=', '-p', String(pid)]);
  const [parentPid, state, ...command] = stdout.trim().split(/\s+/);
  return state?.startsWith('Z')
    ? undefined
    : { pid, parentPid: Number(parentPid), command: command.join(' ') };
}

/** Pids of the direct children of a process. */
export async function listChildren(parentPid: number): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
    const rows = stdout.trim().split('\n');
    const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([pid, parent]) => (parent === parentPid && pid ? [pid] : []));
  }
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(pids.map(inspectProcess));
  return found.flatMap((info) => (info?.parentPid === parentPid ? [info.pid] : []));
}

/** Sends a signal; false when there is no such process. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits until a process that is not a child of this one has gone; false when it outlives the timeout. */
export async function waitForProcessEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await inspectProcess(pid)) {
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}
