import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { currentTraceIds, isTracing } from './tracing/spans.js';

/** Matches anything that looks like a JWT, with or without prefix and checksum, anywhere in a text. */
const credentialPattern = /(?:pat_)?eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*){0,2}/g;

export type { Logger } from 'pino';

/** Replaces the credentials in a text. */
export const scrub = (value: string): string => value.replace(credentialPattern, '[credential]');

const secretKey =
  /^(?:.*password.*|.*secret.*|(?:access_?|refresh_?|id_?)?tokens?|tokenHash|authorization|cookie|set-cookie|privateKey|otp)$/i;

const MAX_REDACTION_DEPTH = 6;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Returns a copy without the values whose keys mark them as secret. This happens when a line is written; pino's `redact`
 * would also run for the child logger of every request.
 */
function redact(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  // Requests, errors and similar objects have their own serializers.
  if (value === null || typeof value !== 'object' || !isPlain(value)) return value;
  if (depth === MAX_REDACTION_DEPTH) return '[deep]';
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      secretKey.test(key) ? '[redacted]' : redact(child, depth + 1),
    ]),
  );
}

function serializeError(thrown: unknown): unknown {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const serialized = stdSerializers.err(error);
  return {
    type: serialized.type,
    message: scrub(serialized.message),
    stack: scrub(serialized.stack),
    ...('code' in error ? { code: error.code } : {}),
  };
}

const options = (service: string, level: string): LoggerOptions => ({
  level,
  base: { service },
  ...(isTracing() && { mixin: currentTraceIds }),
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: {
    level: (label) => ({ level: label }),
    log: (line) => redact(line) as Record<string, unknown>,
  },
  serializers: {
    err: serializeError,
    // Headers and queries are omitted, because both carry secrets (bearers, links of mails).
    req: (request: { method: string; url: string }) => ({
      method: request.method,
      path: scrub(request.url.split('?', 1)[0] ?? ''),
    }),
    res: (reply: { statusCode: number }) => ({ statusCode: reply.statusCode }),
  },
});

/** Lines that a full disk does not take wait, up to so much; the others are lost. */
const MAX_UNWRITTEN_BYTES = 1_048_576;

/**
 * Opens stdout for a log. A line that cannot be written fails nothing: while a disk is full, a service goes on without a log.
 * Each line is written at once, because what pino keeps until a process exits it tries to write for ever.
 */
function openStdout(): DestinationStream {
  const stdout = pino.destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  stdout.on('error', () => undefined);
  return stdout;
}

/**
 * Creates a logger that writes JSON lines to stdout, with the ids of the trace when tracing was started before. Secrets
 * are redacted by key and, in errors and paths, by their form.
 *
 * @param level - pino's level names, or `silent`.
 */
export const createLogger = (
  service: string,
  level: string,
  destination: DestinationStream = openStdout(),
): Logger => pino(options(service, level), destination);
