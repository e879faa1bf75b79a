import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FileRequest } from './child.js';
import type { FileFailure, FileResult } from './file-text.js';

/** Whether a file has the name of one that is read here. */
export const isReadableFile = (name: string): boolean => /\.(?:pdf|docx|pptx|xlsx|eml)$/i.test(name);

export interface FileReaderOptions {
  /** The largest file; by default 50 MB. */
  readonly maxBytes?: number;
  /** The time for one file; by default a minute. */
  readonly timeoutMs?: number;
  /** The memory of the child process; by default 768 MiB. */
  readonly maxMemoryBytes?: number;
}

const MEGABYTE = 1_000_000;
const MEBIBYTE = 1_048_576;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4_096;

/** Returns the resident memory of a process; undefined where the system does not tell. */
async function readMemory(pid: number): Promise<number | undefined> {
  const statm = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => undefined);
  return statm === undefined ? undefined : Number(statm.split(' ')[1]) * PAGE_BYTES;
}

const fail = (reason: FileFailure['reason'], message: string): FileResult => ({
  isOk: false,
  reason,
  message,
});

/**
 * Reads files in a child process, one at a time. The process is kept from file to file, as loading the libraries takes longer
 * than most files; it is killed with a file that takes too long or needs too much memory, and the next file has a new one. It
 * gets no environment, and so none of the secrets of its parent.
 */
export function createFileReader(options: FileReaderOptions = {}) {
  const { maxBytes = 50 * MEGABYTE, timeoutMs = 60_000, maxMemoryBytes = 768 * MEBIBYTE } = options;
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function getChild(): ChildProcess {
    if (child?.connected) return child;
    // In tests, Node runs the sources.
    const file = import.meta.url.endsWith('.ts') ? './child.ts' : './child.js';
    child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      env: {},
      execArgv: [...process.execArgv, `--max-old-space-size=${Math.floor(maxMemoryBytes / MEBIBYTE)}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    // It alone does not keep its parent alive.
    child.unref();
    child.channel?.unref();
    return child;
  }

  async function stop(): Promise<void> {
    const stopped = child;
    child = undefined;
    if (stopped?.exitCode !== null || stopped.signalCode !== null) return;
    stopped.kill('SIGKILL');
    await once(stopped, 'exit');
  }

  /** Resolves with the reason once the child has to be killed. */
  async function watch(pid: number, done: AbortSignal): Promise<FileResult | undefined> {
    const endsAt = performance.now() + timeoutMs;
    while (!done.aborted) {
      if (performance.now() > endsAt) return fail('timeout', `It took longer than ${timeoutMs / 1_000} s`);
      const memory = await readMemory(pid);
      if (memory !== undefined && memory > maxMemoryBytes) return fail('memory', 'It needs too much memory');
      await new Promise((resolve) => setTimeout(resolve, MEMORY_CHECK_MS));
    }
    return undefined;
  }

  async function ask(request: FileRequest): Promise<FileResult> {
    const reading = getChild();
    const done = new AbortController();
    const answer = new Promise<FileResult>((resolve) => {
      reading.once('message', (result) => resolve(result as FileResult));
      // V8 ends the process when its heap is full.
      reading.once('exit', () => resolve(fail('memory', 'It needs too much memory')));
      reading.once('error', () => resolve(fail('broken', 'The process that reads files failed')));
      reading.send(request, () => undefined);
    });
    const watched = watch(reading.pid ?? 0, done.signal);
    const ended = await Promise.race([answer, watched.then((result) => result ?? answer)]);
    done.abort();
    reading.removeAllListeners('message').removeAllListeners('exit').removeAllListeners('error');
    if (!ended.isOk && (ended.reason === 'timeout' || ended.reason === 'memory')) await stop();
    return ended;
  }

  return {
    /** Reads a file. It never rejects: a file that cannot be read is a failure with its reason. */
    async read(name: string, bytes: Uint8Array): Promise<FileResult> {
      if (bytes.length > maxBytes) return fail('too_large', `It is larger than ${maxBytes / MEGABYTE} MB`);
      const reading = last.then(() => ask({ name, bytes }));
      last = reading;
      return reading;
    },
    close: stop,
  };
}

export type FileReader = ReturnType<typeof createFileReader>;
