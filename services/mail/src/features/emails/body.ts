import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type App, validationError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { findUnstorableText } from './storable.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body as it came, where an `Idempotency-Key` came with it. */
    bodyDigest: string | null;
  }
}

/** Above this, each step gets a turn of the event loop for itself. */
const LARGE = 1_048_576;

const tooLarge = (): AppError =>
  new AppError({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'Request body is too large',
  });

async function readBytes(payload: Readable, bytesMax: number, digest: Hash | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Not destroyed when it is too long: that would take the connection, and the answer, with it.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    digest?.update(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError({ status: 400, code: 'INVALID_JSON', message: 'Request body is not valid JSON' });
  }
  const fault = text.includes('\\u') ? findUnstorableText(value) : undefined;
  if (fault) throw validationError([fault]);
  return value;
}

async function readBody(request: FastifyRequest, payload: Readable, bytesMax: number): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const digest = request.headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
  const bytes = await readBytes(payload, bytesMax, digest);
  request.bodyDigest = digest?.digest('base64url') ?? null;
  if (bytes.length === 0) return undefined;
  if (bytes.length > LARGE) await nextTurn();
  const value = parseJson(bytes.toString('utf8'));
  if (bytes.length > LARGE) await nextTurn();
  return value;
}

/**
 * JSON of up to 36 MB on the routes of this scope, without holding up the others: measured at 25 MiB of
 * attachments, joining the chunks takes 20 ms, decoding and parsing 40, each in a turn of its own. The
 * common parser would do it in one go, and twice search the whole text for prototype keys; here nothing
 * is ever merged from a body, and the values of `templateData` are looked up as own properties.
 */
export function registerLargeJson(scope: App, bytesMax: number): void {
  scope.decorateRequest('bodyDigest', null);
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
    readBody(request, payload, bytesMax),
  );
}
