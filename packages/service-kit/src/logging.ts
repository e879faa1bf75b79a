import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';

/** Anything that looks like a JWT, with or without the display prefix, wherever it slipped into. */
const credentialPattern = /(?:pat_)?eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;

export type { Logger } from 'pino';

/** Replaces credentials inside a text. */
export const scrub = (value: string): string => value.replace(credentialPattern, '[credential]');

const secretKeys = [
  'password', 'passwordHash', 'accessToken', 'access_token', 'token', 'tokens', 'tokenHash', 'secret',
  'authorization', 'cookie', 'privateKey', 'client_secret', 'otp',
]; // prettier-ignore

function serializeError(error: Error): unknown {
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
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (label) => ({ level: label }) },
  redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
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
 * JSON lines on stdout, secrets redacted by key and, in errors and paths, by shape.
 *
 * @param level - pino's level names, or `silent`.
 */
export const createLogger = (service: string, level: string, destination?: DestinationStream): Logger =>
  destination ? pino(options(service, level), destination) : pino(options(service, level));
