import type { IncomingMessage } from 'node:http';
import { AppError, isHeaderRepeated } from '@platform/service-kit';

const bearerPattern = /^bearer +([\w.~+/=-]+) *$/i;

/**
 * Reads the token of `Authorization: Bearer …` (RFC 6750 §2.1).
 *
 * @returns undefined when there is no header, or one of another scheme.
 * @throws AppError 400 when the header is sent twice, because it would be ambiguous which one counts.
 */
export function readBearer(request: IncomingMessage): string | undefined {
  const header = request.headers.authorization;
  if (header === undefined) return undefined;
  if (isHeaderRepeated(request.rawHeaders, 'authorization'))
    throw new AppError({
      status: 400,
      code: 'BAD_REQUEST',
      message: 'Send one Authorization header',
      headers: { 'www-authenticate': 'Bearer realm="platform", error="invalid_request"' },
    });
  return parseBearer(header);
}

/** @returns undefined for another scheme. */
export function parseBearer(header: string): string | undefined {
  // The common case needs no pattern.
  if (header.startsWith('Bearer ') && !header.includes(' ', 7)) return header.slice(7);
  return bearerPattern.exec(header)?.[1];
}
