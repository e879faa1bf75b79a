export interface RecordingLog {
  readonly lines: {
    readonly level: string;
    readonly message: string;
    readonly detail: Record<string, unknown>;
  }[];
  debug(detail: object | string, message?: string): void;
  info(detail: object | string, message?: string): void;
  warn(detail: object | string, message?: string): void;
  error(detail: object | string, message?: string): void;
}

/** Records log lines, but only counts those on `debug`, of which there are many. */
export function createRecordingLog(): RecordingLog {
  const lines: RecordingLog['lines'] = [];
  const at = (level: string) => (detail: object | string, message?: string) =>
    void lines.push(
      typeof detail === 'string'
        ? { level, message: detail, detail: {} }
        : { level, message: message ?? '', detail: detail as Record<string, unknown> },
    );
  return { lines, debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
}
