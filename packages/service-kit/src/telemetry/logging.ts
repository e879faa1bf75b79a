import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import { currentTraceIds, isTracing } from './tracing/spans.js';

/** Anything that looks like a JWT, with or without the display prefix, wherever it slipped into. */
const credentialPattern = /(?:pat_)?eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;

export type { Logger } from 'pino';

/** Replaces credentials inside a text. */
export const scrub = (value: string): string => value.replace(credentialPattern, '[credential]');

const secretKey =
  /^(?:.*password.*|.*secret.*|(?:access_?|refresh_?|id_?)?tokens?|tokenHash|authorization|cookie|set-cookie|privateKey|otp)$/i;

const MAX_REDACTION_DEPTH = 6;

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * A copy without what the keys say is secret. Done when a line is written rather than by pino's
 * `redact`, which would also run for the child logger of every request, written or not.
 */
function redact(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  // Requests, errors and the like have serializers of their own.
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
    // No headers and no query: both carry secrets (bearers, links of mails).
    req: (request: { method: string; url: string }) => ({
      method: request.method,
      path: scrub(request.url.split('?', 1)[0] ?? ''),
    }),
    res: (reply: { statusCode: number }) => ({ statusCode: reply.statusCode }),
  },
});

/**
 * JSON lines on stdout, with the ids of the trace when tracing has been started before; secrets redacted by key and, in errors and paths, by shape.
 *
 * @param level - pino's level names, or `silent`.
 */
export const createLogger = (service: string, level: string, destination?: DestinationStream): Logger =>
  destination ? pino(options(service, level), destination) : pino(options(service, level));
