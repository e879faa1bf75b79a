interface LogEntry {
  readonly level?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string };
}

/**
 * Formats a line of a service's log for people: JSON entries become `level: message (cause)`, anything else stays as
 * it is.
 */
export function readableLine(line: string): string {
  const entry = parseEntry(line);
  if (entry?.level === undefined) return line;
  const cause = entry.err?.message;
  const message = entry.msg ?? '';
  return `${entry.level}: ${message}${cause && cause !== message ? ` (${cause})` : ''}`;
}

export const isErrorLine = (line: string): boolean => /^(error|fatal)$/.test(parseEntry(line)?.level ?? '');

function parseEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
}
