/** `error` and above, in pino's numbers. */
const ERROR_LEVEL = 50;
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

interface LogEntry {
  readonly level?: number;
  readonly msg?: string;
  readonly err?: { readonly message?: string };
}

/** A line of a service's log for people: JSON entries become `level: message (cause)`, anything else stays as it is. */
export function readableLine(line: string): string {
  const entry = parseEntry(line);
  if (entry?.level === undefined) return line;
  const cause = entry.err?.message;
  const message = entry.msg ?? '';
  return `${LEVELS[entry.level] ?? entry.level}: ${message}${cause && cause !== message ? ` (${cause})` : ''}`;
}

export const isErrorLine = (line: string): boolean => (parseEntry(line)?.level ?? 0) >= ERROR_LEVEL;

function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
