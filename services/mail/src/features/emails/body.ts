import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type App, findUnstorableText, validationError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { createByteBudget } from './byte-budget.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body as it came, where an `Idempotency-Key` came with it. */
    bodyDigest: string | null;
  }
}

/** Above this, each step gets a turn of the event loop for itself. */
const LARGE = 1_048_576;

/** Smaller ones are bounded by the number of mails under way (`SENDS_MAX`). */
const COUNTED = 131_072;

/** Of the counted bodies in memory at once: three of the largest. */
const COUNTED_BYTES_MAX = 3 * 38 * 1_048_576;

/**
 * Commas and opening brackets in a body, at the most. A mail has some hundred, base64 has none; a body of 36
 * million brackets would take the parser gigabytes.
 */
const STRUCTURE_MAX = 10_000;
const structureBytes = [0x2c, 0x5b, 0x7b] as const;

function countStructure(chunk: Buffer, stopAt: number): number {
  let count = 0;
  for (const byte of structureBytes)
    for (let at = chunk.indexOf(byte); at >= 0 && count <= stopAt; at = chunk.indexOf(byte, at + 1))
      count += 1;
  return count;
}

const tooLarge = (): AppError =>
  new AppError({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'Request body is too large',
  });

/** The client has gone, or what it sends is no HTTP: nobody reads the answer, and nothing of ours is at fault. */
const brokenOff = (cause: unknown): AppError =>
  new AppError({ status: 400, code: 'BAD_REQUEST', message: 'Bad request', cause });

/** Its chunks. Not destroyed when it is refused: that would take the connection, and the answer, with it. */
async function* chunksOf(payload: Readable): AsyncGenerator<Buffer> {
  const chunks = payload.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    yield* chunks;
  } catch (error) {
    throw brokenOff(error);
  }
}

/** Into one piece as it comes, where its length is announced: joining 36 MB at the end would take its time. */
async function readBytes(
  payload: Readable,
  announced: number | undefined,
  bytesMax: number,
  digest: Hash | undefined,
): Promise<Buffer> {
  const whole = announced === undefined ? undefined : Buffer.allocUnsafe(announced);
  const chunks: Buffer[] = [];
  let length = 0;
  let structure = 0;
  for await (const chunk of chunksOf(payload)) {
    if (length + chunk.length > bytesMax) throw tooLarge();
    structure += countStructure(chunk, STRUCTURE_MAX);
    if (structure > STRUCTURE_MAX) throw validationError([{ field: 'body', message: 'has too many parts' }]);
    digest?.update(chunk);
    if (whole) chunk.copy(whole, length);
    else chunks.push(chunk);
    length += chunk.length;
  }
  return whole ? whole.subarray(0, length) : Buffer.concat(chunks, length);
}

const invalidJson = (): AppError =>
  new AppError({ status: 400, code: 'INVALID_JSON', message: 'Request body is not valid JSON' });

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson();
  }
  const fault = text.includes('\\u') ? findUnstorableText(value) : undefined;
  if (fault) throw validationError([fault]);
  return value;
}

function announcedBytes({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

async function readBody(request: FastifyRequest, payload: Readable, bytesMax: number): Promise<unknown> {
  const announced = announcedBytes(request);
  if (announced !== undefined && announced > bytesMax) throw tooLarge();
  const digest = request.headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
  const bytes = await readBytes(payload, announced, bytesMax, digest);
  request.bodyDigest = digest?.digest('base64url') ?? null;
  if (bytes.length === 0) return undefined;
  if (bytes.length > LARGE) await nextTurn();
  // RFC 8259 §8.1
  if (!isUtf8(bytes)) throw invalidJson();
  const text = bytes.toString('utf8');
  if (bytes.length > LARGE) await nextTurn();
  const value = parseJson(text);
  if (bytes.length > LARGE) await nextTurn();
  return value;
}

/**
 * JSON of up to 36 MB on the routes of this scope, without holding up the others: measured at 25 MiB of
 * attachments, decoding takes 15 ms, parsing 25, each attachment's base64 up to 30, each in a turn of its
 * own. The common parser would do it in one go, and twice search the whole text for prototype keys; here
 * nothing is ever merged from a body, and the values of `templateData` are looked up as own properties.
 */
export function registerLargeJson(scope: App, bytesMax: number): void {
  const budget = createByteBudget(COUNTED_BYTES_MAX);
  scope.decorateRequest('bodyDigest', null);
  scope.addHook('preParsing', (request, reply, _payload, done) => {
    const bytes = Math.min(announcedBytes(request) ?? bytesMax, bytesMax);
    // `close` comes whether the answer was sent or the client has gone.
    if (bytes > COUNTED) reply.raw.once('close', budget.take(bytes));
    done();
  });
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
    readBody(request, payload, bytesMax),
  );
}
