import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { isErrorLine, readableLine } from './log-lines.js';

const KIB = 1024;
const TAIL_LINES = 15;
const TAIL_BYTES = 16 * KIB;
const FOLLOW_BYTES = 256 * KIB;
const FOLLOW_MS = 250;

/** The log of one process. */
export interface LogFile {
  readonly path: string;
  /**
   * The process writes to this file rather than to a pipe, so that its output is not lost when it outlives its
   * launcher.
   */
  readonly fd: number;
  write(line: string): void;
  /** Prints each error of a service that is logged from now on, a moment later. */
  showErrors(): void;
  /** The last lines, readable, indented, newest last. */
  tail(): string;
  close(): void;
}

/** Opens `<logsDir>/<name>.log`; the log of the previous run is kept as `<name>.log.1`. */
export async function openLogFile(logsDir: string, name: string): Promise<LogFile> {
  const path = join(logsDir, `${name}.log`);
  await mkdir(logsDir, { recursive: true });
  await rename(path, `${path}.1`).catch(() => undefined);
  const fd = openSync(path, 'a+', 0o600);
  let timer: NodeJS.Timeout | undefined;
  let isOpen = true;
  return {
    path,
    fd,
    write: (line) => {
      if (isOpen) writeLine(fd, line);
    },
    showErrors: () => {
      const readNew = createLineReader(fd, (line) => {
        if (isErrorLine(line)) process.stderr.write(`[${name}] ${readableLine(line)}\n`);
      });
      timer = setInterval(readNew, FOLLOW_MS).unref();
    },
    tail: () => {
      const start = Math.max(0, fstatSync(fd).size - TAIL_BYTES);
      const lines = readFrom(fd, start, TAIL_BYTES).trimEnd().split('\n');
      return lines
        .slice(-TAIL_LINES)
        .map((line) => `  ${readableLine(line)}`)
        .join('\n');
    },
    close: () => {
      clearInterval(timer);
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/** Drops lines that cannot be written, so that a full disk does not stop the platform. */
function writeLine(fd: number, line: string): void {
  try {
    writeSync(fd, `${line}\n`);
  } catch {
    // There is no other place to report this.
  }
}

function createLineReader(fd: number, onLine: (line: string) => void): () => void {
  let position = fstatSync(fd).size;
  const buffer = Buffer.alloc(FOLLOW_BYTES);
  // A character may lie across two reads.
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return () => {
    const bytes = readSync(fd, buffer, 0, buffer.length, position);
    position += bytes;
    const lines = (rest + decoder.write(buffer.subarray(0, bytes))).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(onLine);
  };
}

function readFrom(fd: number, position: number, maxBytes: number): string {
  const buffer = Buffer.alloc(maxBytes);
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, maxBytes, position));
}
