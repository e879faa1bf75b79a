import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readableLine } from './log-lines.js';

const TAIL_LINES = 15;

/** The log of one process: a file, and its last lines in memory for explaining a failure. */
export interface LogFile {
  readonly path: string;
  write(line: string): void;
  /** Copies a stream into the log line by line; `onLine` sees each line as well. */
  follow(stream: Readable, onLine?: (line: string) => void): void;
  /** The last lines, readable, indented, newest last. */
  tail(): string;
  close(): Promise<void>;
}

/** Opens `<logsDir>/<name>.log`; the log of the run before stays beside it as `<name>.log.1`. */
export async function openLogFile(logsDir: string, name: string): Promise<LogFile> {
  const path = join(logsDir, `${name}.log`);
  await mkdir(logsDir, { recursive: true });
  await rename(path, `${path}.1`).catch(() => undefined);
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  // A full disk must not take the platform down with it.
  file.on('error', () => undefined);
  const last: string[] = [];
  const write = (line: string) => {
    last.push(line);
    if (last.length > TAIL_LINES) last.shift();
    file.write(`${line}\n`);
  };
  return {
    path,
    write,
    follow: (stream, onLine) => {
      createInterface({ input: stream }).on('line', (line) => {
        write(line);
        onLine?.(line);
      });
    },
    tail: () => last.map((line) => `  ${readableLine(line)}`).join('\n'),
    close: async () => {
      if (file.destroyed) return;
      file.end();
      await once(file, 'close');
    },
  };
}
