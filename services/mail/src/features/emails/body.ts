import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getPrincipal } from '@platform/auth';
import {
  AppError,
  type App,
  type FaultDetail,
  findValueFault,
  readJsonShape,
  validationError,
} from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createFairLimiter, type FairLimiter } from './fair-limiter.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body as it came, where an `Idempotency-Key` came with it. */
    bodyDigest: string | null;
    /** The memory that the body takes; released when the request has been answered and its mail is no longer under way. */
    bodyMemory: BodyMemory | null;
    /** Whether the body is only compared with an earlier one: then nothing of it is kept. */
    isReplay: boolean;
  }
}

/** Above this, each step gets a turn of the event loop for itself. */
const LARGE_BYTES = 1_048_576;

/** Smaller ones are bounded by the number of mails under way (`SENDS_MAX`), and by their number alone. */
const MIN_COUNTED_BYTES = 131_072;

/** Of the counted bodies in memory at once: three of the largest. */
const MAX_COUNTED_BYTES = 3 * 38 * 1_048_576;

/** What one body takes of the bytes that all share. */
export interface BodyMemory {
  /** @throws AppError 429. */
  growTo(bytes: number): void;
  /** Holds the bytes until then; called before the answer. */
  keepUntil(ended: Promise<unknown>): void;
  /** The route has answered, whether or not the client is still there to read it. */
  onResponse(): void;
}

function openBodyMemory(shares: FairLimiter, owner: string, { raw }: FastifyReply): BodyMemory {
  // The client left while its credential was verified: `close` has been emitted, and would never give anything back.
  if (raw.destroyed) throw clientAborted(undefined);
  let held = 0;
  // A client that leaves closes the response at once, and its mail may be on its way still: `close` alone says nothing.
  const holds: Promise<unknown>[] = [new Promise((resolve) => raw.once('close', resolve))];
  return {
    growTo(bytes) {
      if (bytes <= Math.max(held, MIN_COUNTED_BYTES)) return;
      shares.acquire(owner, bytes - held);
      held = bytes;
    },
    keepUntil(ended) {
      holds.push(ended);
    },
    onResponse() {
      void Promise.allSettled(holds).then(() => {
        shares.release(owner, held);
        held = 0;
      });
    },
  };
}

const tooLarge = (): AppError =>
  new AppError({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'Request body is too large',
  });

/** The client has gone, or what it sends is no HTTP: nobody reads the answer, and nothing of ours is at fault. */
const clientAborted = (cause: unknown): AppError =>
  new AppError({ status: 400, code: 'BAD_REQUEST', message: 'Bad request', cause });

/** Its chunks. Not destroyed when it is refused: that would take the connection, and the answer, with it. */
async function* getChunks(payload: Readable): AsyncGenerator<Buffer> {
  const chunks = payload.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    yield* chunks;
  } catch (error) {
    throw clientAborted(error);
  }
}

/** Into one piece as it comes, where its length is announced: joining 36 MB at the end would take its time. */
async function readBytes(
  payload: Readable,
  announced: number | undefined,
  maxBytes: number,
  digest: Hash | undefined,
  memory: BodyMemory | null,
): Promise<Buffer> {
  const whole = announced === undefined ? undefined : Buffer.allocUnsafe(announced);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of getChunks(payload)) {
    if (length + chunk.length > maxBytes) throw tooLarge();
    memory?.growTo(length + chunk.length);
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
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson();
  }
}

function refuse(fault: FaultDetail | undefined): void {
  if (fault) throw validationError([fault]);
}

function announcedBytes({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Reads it to the end without keeping anything. */
async function digestBody(payload: Readable, maxBytes: number): Promise<string> {
  const digest = createHash('sha256');
  let length = 0;
  for await (const chunk of getChunks(payload)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    digest.update(chunk);
  }
  return digest.digest('base64url');
}

async function readBody(request: FastifyRequest, payload: Readable, maxBytes: number): Promise<unknown> {
  const announced = announcedBytes(request);
  if (announced !== undefined && announced > maxBytes) throw tooLarge();
  if (request.isReplay) {
    request.bodyDigest = await digestBody(payload, maxBytes);
    return undefined;
  }
  const digest = request.headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
  const bytes = await readBytes(payload, announced, maxBytes, digest, request.bodyMemory);
  request.bodyDigest = digest?.digest('base64url') ?? null;
  if (bytes.length === 0) return undefined;
  if (bytes.length > LARGE_BYTES) await nextTurn();
  // RFC 8259 §8.1
  if (!isUtf8(bytes)) throw invalidJson();
  const shape = readJsonShape(bytes);
  refuse(shape.fault);
  if (bytes.length > LARGE_BYTES) await nextTurn();
  const text = bytes.toString('utf8');
  if (bytes.length > LARGE_BYTES) await nextTurn();
  const value = parseJson(text);
  refuse(findValueFault(shape, text, value));
  if (bytes.length > LARGE_BYTES) await nextTurn();
  return value;
}

/** The platform's own services send small mails for everybody: they share as one. */
function getOwner(request: FastifyRequest): string {
  const principal = getPrincipal(request);
  return principal.kind === 'service' ? 'services' : principal.orgId;
}

/**
 * JSON of up to 36 MB on the routes of this scope, without holding up the others: measured at 25 MiB of
 * attachments, decoding takes 15 ms, parsing 25, each attachment's base64 up to 30, each in a turn of its
 * own. The common parser would do it in one go, and twice search the whole text for prototype keys; here
 * nothing is ever merged from a body, and the values of `templateData` are looked up as own properties.
 */
export function registerLargeJson(scope: App, maxBytes: number): void {
  const shares = createFairLimiter({ capacity: MAX_COUNTED_BYTES, message: 'Too many large mails at once' });
  scope.decorateRequest('bodyDigest', null);
  scope.decorateRequest('bodyMemory', null);
  scope.decorateRequest('isReplay', false);
  scope.addHook('preParsing', (request, reply, _payload, done) => {
    if (!request.isReplay) {
      request.bodyMemory = openBodyMemory(shares, getOwner(request), reply);
      // One of unknown length takes what it is, as it comes.
      request.bodyMemory.growTo(Math.min(announcedBytes(request) ?? 0, maxBytes));
    }
    done();
  });
  scope.addHook('onSend', (request, _reply, payload, done) => {
    request.bodyMemory?.onResponse();
    done(null, payload);
  });
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
    readBody(request, payload, maxBytes),
  );
}
