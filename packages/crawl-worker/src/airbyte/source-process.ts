import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A longer line is skipped. */
const MAX_LINE_BYTES = 64 * 1_048_576;
const STDERR_TAIL_CHARACTERS = 4_096;
/** How long a source may take to end after it was asked to. */
const TERMINATION_MS = 3_000;
const NEWLINE = 10;

/*
 * The source runs in a process group of its own, so that its children end with it. A shell beside it waits at a pipe of
 * this process and kills the group when the pipe closes, which it does even when this process is killed by force.
 */
const WATCHED = `(exec </dev/null >/dev/null 2>&1; read -r _ <&3; kill -9 0) &
exec 3<&-
exec `;

/** The end of a line that was too long to be read. */
export const TOO_LONG = Symbol('too long');

/** Starts a source: any command that speaks the protocol, as a shell reads it. */
export function startSource(command: string, args: readonly string[], environment: NodeJS.ProcessEnv) {
  const child = spawn('/bin/sh', ['-c', `${WATCHED}${command} "$@"`, 'source', ...args], {
    detached: true,
    env: { ...environment, PYTHONUNBUFFERED: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const watchdog = child.stdio[3] as NodeJS.WritableStream | null;
  watchdog?.on('error', () => undefined);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL_CHARACTERS);
  });
  const exited = once(child, 'exit').then(
    ([code, signal]) => ({ code: code as number | null, signal: signal as string | null }),
    (error: Error) => {
      stderr += error.message;
      return { code: null, signal: null };
    },
  );
  // Whatever the source has left behind ends, too.
  void exited.then(() => watchdog?.end());

  return {
    /** The lines of its output. Whoever does not read them makes the source wait. */
    lines: () => readLines(child.stdout as Readable),
    exited,
    /** Returns the last lines that it has printed for people. */
    stderrTail: () => stderr.trim(),
    /** Ends it with everything that it has started. Its output ends, too. */
    async stop(): Promise<void> {
      signalGroup(child, 'SIGTERM');
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), TERMINATION_MS);
      // What waits for a reader would keep a source that handles the signal.
      child.stdout?.destroy();
      await exited;
      clearTimeout(timer);
      signalGroup(child, 'SIGKILL');
    },
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Splits bytes at line ends. One line is in memory at a time, besides the chunk that was read last. */
async function* readLines(
  stream: AsyncIterable<Buffer>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<string | typeof TOO_LONG> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      bytes += end - start;
      if (bytes > maxBytes) yield TOO_LONG;
      else if (parts.length === 0) yield chunk.toString('utf8', start, end);
      else yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8');
      [parts, bytes, start] = [[], 0, end + 1];
    }
    if (start === chunk.length) continue;
    bytes += chunk.length - start;
    if (bytes > maxBytes) parts = [];
    else parts.push(chunk.subarray(start));
  }
  if (bytes > maxBytes) yield TOO_LONG;
  else if (bytes > 0) yield Buffer.concat(parts).toString('utf8');
}
