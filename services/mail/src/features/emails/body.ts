import { isUtf8 } from 'node:buffer';
import { createHash, type Hash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getPrincipal } from '@platform/auth';
import {
  AppError,
  type App,
  type FaultDetail,
  findExcess,
  findInexactNumber,
  findValueFault,
  readJsonText,
  validationError,
  createPermits,
} from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { type BodyMemory, reserveBodyMemory, clientAborted } from './body-memory.js';
import type { Attachment } from './schemas.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The SHA-256 of the raw body; null without an `Idempotency-Key`. */
    bodyDigest: string | null;
    /** The memory reserved for the body. It is released when the response has been sent and the mail has an outcome. */
    bodyMemory: BodyMemory | null;
    /** The long contents of attachments, by what stands for them in the body until it is validated. */
    longContents: ReadonlyMap<string, Buffer> | null;
    /** True when the body is only compared with that of an earlier request. Then it is hashed and not kept. */
    isReplay: boolean;
  }
}

/** The size of a body above which each step runs in a separate turn of the event loop. */
const LARGE_BYTES = 1_048_576;

/** Limits the memory of all bodies together to three of the largest. */
const MAX_COUNTED_BYTES = 3 * 38 * 1_048_576;

const tooLarge = (): AppError =>
  new AppError({
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: 'Request body is too large',
  });

/** Reads the chunks of a body. A refused body isn't destroyed, because that would close the connection before the response. */
async function* readChunks(payload: Readable): AsyncGenerator<Buffer> {
  const chunks = payload.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    yield* chunks;
  } catch (error) {
    throw clientAborted(error);
  }
}

/** Reads a body into one buffer. With a known length it copies each chunk on arrival, since joining 36 MB at the end is slow. */
async function readBytes(
  payload: Readable,
  announced: number | undefined,
  maxBytes: number,
  digest: Hash | undefined,
  memory: BodyMemory | null,
): Promise<Buffer> {
  const target = announced === undefined ? undefined : Buffer.allocUnsafe(announced);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(payload)) {
    if (length + chunk.length > maxBytes) throw tooLarge();
    memory?.growTo(length + chunk.length);
    digest?.update(chunk);
    if (target) chunk.copy(target, length);
    else chunks.push(chunk);
    length += chunk.length;
  }
  return target ? target.subarray(0, length) : Buffer.concat(chunks, length);
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

function throwIfFaulty(fault: FaultDetail | undefined): void {
  if (fault) throw validationError([fault]);
}

/** Shorter strings are parsed with the rest of the body. */
const LONG_BYTES = 262_144;

interface Content {
  readonly start: number;
  readonly end: number;
}

/** Examines a JSON text before it is parsed. @returns where the contents of its long strings are. */
function findLongContents(bytes: Buffer): Content[] {
  const long: Content[] = [];
  const fault = findExcess(bytes, (start, end) => {
    if (end - start > LONG_BYTES) long.push({ start: start + 1, end });
  });
  throwIfFaulty(fault);
  return long;
}

/** The length of an escape such as `\u002B`, which .NET writes in base64; PHP writes `\/`. */
const ESCAPE_BYTES = 6;

/**
 * Reads the escapes of a long string, a slice in each turn of the event loop.
 *
 * @returns the content without escapes; undefined when it isn't ASCII, or no JSON.
 */
async function readEscapes(content: Buffer): Promise<Buffer | undefined> {
  if (!content.includes('\\')) return content;
  const bytes = Buffer.allocUnsafe(content.length);
  let length = 0;
  for (let start = 0, end = 0; start < content.length; start = end) {
    await nextTurn();
    end = Math.min(start + LONG_BYTES, content.length);
    const escape = content.subarray(end - ESCAPE_BYTES, end).lastIndexOf('\\');
    if (end < content.length && escape >= 0) end += escape - ESCAPE_BYTES;
    try {
      const text = JSON.parse(`"${content.toString('latin1', start, end)}"`) as string;
      const slice = Buffer.from(text);
      if (slice.length !== text.length) return undefined;
      length += slice.copy(bytes, length);
    } catch {
      return undefined;
    }
  }
  return bytes.subarray(0, length);
}

/** Finds a value of `templateData` with a number that JSON.parse rounds: the mail would say another one. */
export function findRoundedValue(text: string, body: unknown): FaultDetail | undefined {
  const { templateData } = (body ?? {}) as { templateData?: unknown };
  const isRounded = (path: readonly string[]): boolean =>
    findInexactNumber(readJsonText(text, path) ?? '') !== undefined;
  if (typeof templateData !== 'object' || templateData === null || !isRounded(['templateData']))
    return undefined;
  const key = Object.keys(templateData).find((name) => isRounded(['templateData', name]));
  const field = ['templateData', ...(key === undefined ? [] : [key])].join('.');
  return { field, message: 'must be a text: as a number, it cannot be read exactly' };
}

function parse(text: string): unknown {
  const value = parseJson(text);
  throwIfFaulty(findValueFault(text, value) ?? findRoundedValue(text, value));
  return value;
}

/**
 * Parses a body without the long contents of its attachments, which would be copied twice, each time in one turn: once with the
 * text, and once as a value. A name that nobody can guess stands for each of them.
 *
 * @returns undefined when another part of the body is long, too, or a content can't be one of base64: its schema refuses that.
 */
async function parseAround(
  bytes: Buffer,
  long: readonly Content[],
): Promise<{ readonly value: unknown; readonly longContents: ReadonlyMap<string, Buffer> } | undefined> {
  const longContents = new Map<string, Buffer>();
  for (const { start, end } of long) {
    const content = await readEscapes(bytes.subarray(start, end));
    if (!content) return undefined;
    longContents.set(randomUUID(), content);
  }
  const names = [...longContents.keys()];
  const starts = [0, ...long.map(({ end }) => end)];
  const texts = starts.map((from, index) => bytes.toString('utf8', from, long[index]?.start));
  const value = parse(texts.map((text, index) => text + (names[index] ?? '')).join(''));
  const found = getAttachments(value).filter(({ content }) => longContents.has(content as string));
  return found.length === names.length ? { value, longContents } : undefined;
}

/** @returns the attachments of a body that may not be valid. */
function getAttachments(body: unknown): { content: Attachment['content'] }[] {
  const { attachments } = (body ?? {}) as { attachments?: unknown };
  return Array.isArray(attachments) ? attachments.filter((one) => one !== null) : [];
}

function announcedBytes({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Hashes a body without keeping it. */
async function digestBody(payload: Readable, maxBytes: number): Promise<string> {
  const digest = createHash('sha256');
  let length = 0;
  for await (const chunk of readChunks(payload)) {
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
  // RFC 8259 §8.1 requires UTF-8.
  if (!isUtf8(bytes)) throw invalidJson();
  const long = findLongContents(bytes);
  if (bytes.length > LARGE_BYTES) await nextTurn();
  const parsed = long.length > 0 ? await parseAround(bytes, long) : undefined;
  if (parsed) {
    request.longContents = parsed.longContents;
    return parsed.value;
  }
  const text = bytes.toString('utf8');
  if (bytes.length > LARGE_BYTES) await nextTurn();
  return parse(text);
}

/** Returns who the memory is reserved for. The platform's own services share one reservation, as their mails are small. */
function getOwner(request: FastifyRequest): string {
  const principal = getPrincipal(request);
  return principal.kind === 'service' ? 'services' : principal.orgId;
}

/**
 * Parses JSON of up to 36 MB on the routes of this scope without blocking other requests: long contents of attachments are
 * not parsed, but decoded from the body's bytes in slices. The common parser would do all of this in one turn, and would search
 * the text twice for prototype keys. That search isn't needed here: bodies are never merged, and `templateData` is read by own
 * properties.
 */
export function registerLargeJson(scope: App, maxBytes: number): void {
  const permits = createPermits({ total: MAX_COUNTED_BYTES, isFair: true });
  scope.decorateRequest('bodyDigest', null);
  scope.decorateRequest('bodyMemory', null);
  scope.decorateRequest('longContents', null);
  scope.decorateRequest('isReplay', false);
  scope.addHook('preParsing', (request, reply, _payload, done) => {
    if (!request.isReplay) {
      request.bodyMemory = reserveBodyMemory(permits, getOwner(request), reply);
      // A body of unknown length reserves its memory chunk by chunk.
      request.bodyMemory.growTo(Math.min(announcedBytes(request) ?? 0, maxBytes));
    }
    done();
  });
  scope.addHook('preHandler', ({ body, longContents }, _reply, done) => {
    if (longContents)
      for (const attachment of getAttachments(body))
        attachment.content = longContents.get(attachment.content as string) ?? attachment.content;
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
