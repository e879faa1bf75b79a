import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The operating system's data about a process, which another program may have started. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parentPid: number;
  /** Arguments separated by single spaces. */
  readonly command: string;
}

/** Describes a running process; undefined when it has ended or only waits to be reaped. */
export async function inspectProcess(pid: number): Promise<ProcessInfo | undefined> {
  try {
    return process.platform === 'linux' ? await readProc(pid) : await askPs(pid);
  } catch {
    return undefined;
  }
}

// `ps` is missing in slim Linux images.
async function readProc(pid: number): Promise<ProcessInfo | undefined> {
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
  const parentPid = parseParent(await readFile(`/proc/${pid}/stat`, 'utf8'));
  return parentPid === undefined ? undefined : { pid, parentPid, command };
}

/** @returns undefined for a process that only waits to be reaped. */
function parseParent(stat: string): number | undefined {
  // The program's name, in parentheses, may itself hold spaces and parentheses: read from the last one.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' ? undefined : Number(parentPid);
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
  return (await listProcesses()).flatMap(([pid, parent]) => (parent === parentPid ? [pid] : []));
}

/** Pids of everything below a process. */
export async function listDescendants(ancestorPid: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const [pid, parent] of await listProcesses())
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  const descendants: number[] = [];
  const collect = (parentPid: number) => {
    for (const pid of children.get(parentPid) ?? []) {
      descendants.push(pid);
      collect(pid);
    }
  };
  collect(ancestorPid);
  return descendants;
}

/** Pid and parent of every process. */
async function listProcesses(): Promise<(readonly [pid: number, parentPid: number])[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
    return stdout
      .trim()
      .split('\n')
      .map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
  }
  // Hundreds of small files in memory: read at once, they cost a tenth of as many asynchronous reads.
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parentPid = parseParent(readFileSync(`/proc/${name}/stat`, 'utf8'));
      return parentPid === undefined ? [] : [[Number(name), parentPid] as const];
    } catch {
      // The process has ended meanwhile.
      return [];
    }
  });
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

/** Waits until a process that is not a child of this one has ended; false when it outlives the timeout. */
export async function waitForProcessEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (await inspectProcess(pid)) {
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}
