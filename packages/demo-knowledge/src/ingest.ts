import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentLine,
  findFault,
  MAX_BATCH_BYTES,
  MAX_BATCH_LINES,
} from '@platform/crawl-worker/documents';
import type { CredentialVerifier } from './credentials.js';
import type { Documents } from './documents.js';

/** More would be in memory at once than the process should hold; workers wait and repeat. */
const MAX_BATCHES_AT_ONCE = 4;
const RETRY_AFTER_S = 1;

/** An answer other than success. */
class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Creates the handler of `POST /documents`, the ingest endpoint of docs/connect/documents.md: a batch is stored as a whole
 * or not at all, and a batch that comes again changes nothing.
 */
export function createIngest(deps: {
  readonly credentials: CredentialVerifier;
  readonly documents: Documents;
  readonly log: (line: string) => void;
}) {
  const { credentials, documents, log } = deps;
  let batches = 0;

  /** @returns the connectors whose documents the worker may bring; undefined for all. */
  async function authenticate(request: IncomingMessage): Promise<readonly string[] | undefined> {
    const [, token] = /^Bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new Refused(401, 'UNAUTHORIZED', 'A bearer token is required');
    const verified = await credentials
      .verify(token, request.socket.remoteAddress ?? '')
      .catch((error: Error) => {
        log(`a token cannot be verified: ${error.message}`);
        throw new Refused(503, 'UNAVAILABLE', 'The token cannot be verified at the moment');
      });
    if (verified.verdict === 'invalid') throw new Refused(401, 'UNAUTHORIZED', 'The token is not valid here');
    if (verified.verdict === 'forbidden')
      throw new Refused(403, 'FORBIDDEN', 'The token needs the scope crawl:work of an administrator');
    return verified.connectors;
  }

  async function store(request: IncomingMessage): Promise<number> {
    const connectors = await authenticate(request);
    const lines = parseBatch(await readBody(request));
    const foreign = lines.find(({ connector }) => connectors?.includes(connector) === false);
    if (foreign)
      throw new Refused(403, 'OUT_OF_BOUNDS', `The token is limited to others than ${foreign.connector}`);
    try {
      await documents.store(lines);
    } catch (error) {
      log(`a batch could not be stored: ${(error as Error).message}`);
      throw new Refused(503, 'UNAVAILABLE', 'The batch could not be stored; repeat it');
    }
    return lines.length;
  }

  return async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object, headers: Record<string, string> = {}) => {
      // What is left of a refused body is not read, so the connection cannot be used again.
      if (!request.complete) response.shouldKeepAlive = false;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    };
    const refuse = ({ status, code, message }: Refused) => {
      const isBusy = status === 429 || status === 503;
      const headers = {
        ...(isBusy && { 'retry-after': String(RETRY_AFTER_S) }),
        ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      };
      send(status, { error: { code, message } }, headers);
    };
    if (request.method !== 'POST') return refuse(new Refused(405, 'METHOD_NOT_ALLOWED', 'Use POST'));
    if (batches >= MAX_BATCHES_AT_ONCE)
      return refuse(new Refused(429, 'TOO_MANY_BATCHES', 'Other batches are being stored; repeat it'));
    batches += 1;
    try {
      send(200, { lines: await store(request) });
    } catch (error) {
      if (error instanceof Refused) return refuse(error);
      log(`a batch broke off: ${(error as Error).message}`);
      response.destroy();
    } finally {
      batches -= 1;
    }
    return undefined;
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BATCH_BYTES)
      throw new Refused(413, 'TOO_LARGE', `A batch has at most ${MAX_BATCH_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws Refused that names the first line at fault. */
function parseBatch(body: string): DocumentLine[] {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > MAX_BATCH_LINES)
    throw new Refused(413, 'TOO_LARGE', `A batch has at most ${MAX_BATCH_LINES} lines`);
  return lines.map((text, index) => {
    const line = parseJson(text);
    const fault = findFault(line);
    if (fault !== undefined) throw new Refused(400, 'INVALID_LINE', `Line ${index + 1}: ${fault}`);
    return line as DocumentLine;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
