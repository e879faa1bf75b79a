import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { percentile } from './suite.js';

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export interface LoadOptions {
  /** One of both ends it. */
  readonly seconds?: number;
  readonly requests?: number;
  /** Taken in turn; none: no `Authorization`. */
  readonly bearers?: readonly string[];
  readonly expected?: number;
  /** Default 50. */
  readonly connections?: number;
  /** Sent with POST; none: GET. */
  readonly body?: object;
}

/*
 * A generator of our own: autocannon needed more of its core than the bare route of its own, and
 * the slower of the two is what gets measured. Requests are made beforehand; of an answer only the
 * status and the length are read.
 */
const CONNECTIONS = 50;
const READ_BUFFER_BYTES = 16_384;

interface Run {
  readonly requests: readonly Buffer[];
  readonly expected: string;
  readonly endsAt: number;
  /** Requests that are still to be sent. */
  left: number;
  readonly latenciesMs: number[];
}

function prepare(url: URL, { bearers = [], body }: LoadOptions): Buffer[] {
  const payload = body === undefined ? '' : JSON.stringify(body);
  const describe =
    body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n`;
  const start = `${body === undefined ? 'GET' : 'POST'} ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n${describe}`;
  return (bearers.length === 0 ? [undefined] : bearers).map((bearer) => {
    const authorization = bearer === undefined ? '' : `authorization: Bearer ${bearer}\r\n`;
    return Buffer.from(`${start}${authorization}\r\n${payload}`);
  });
}

/** How many bytes are still to come of the answer whose beginning this is. */
function bytesMissing(head: string, bytes: number): number {
  const bodyAt = head.indexOf('\r\n\r\n') + 4;
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (bodyAt < 4 || length === undefined) throw new Error(`an answer in pieces: ${head.slice(0, 200)}`);
  return bodyAt + Number(length) - bytes;
}

/** One keep-alive connection: a request, its answer, the next request, until time or requests are used up. */
function runConnection(url: URL, run: Run, first: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = first;
    let sentAt = 0;
    let missing = 0;
    const send = (socket: Socket) => {
      run.left -= 1;
      sentAt = performance.now();
      socket.write(run.requests[next++ % run.requests.length] as Buffer);
    };
    const receive = (bytes: number, buffer: Uint8Array) => {
      if (missing > 0) missing -= bytes;
      else {
        const head = (buffer as Buffer).toString('latin1', 0, bytes);
        if (head.slice(9, 12) !== run.expected)
          throw new Error(`expected ${run.expected}: ${head.slice(0, 300)}`);
        missing = bytesMissing(head, bytes);
      }
      if (missing > 0) return;
      const now = performance.now();
      run.latenciesMs.push(now - sentAt);
      if (now < run.endsAt && run.left > 0) send(socket);
      else socket.end();
    };
    const onread = {
      buffer: Buffer.alloc(READ_BUFFER_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        try {
          receive(bytes, buffer);
        } catch (error) {
          socket.destroy(error as Error);
        }
        return true;
      },
    };
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, onread });
    socket.once('connect', () => {
      send(socket);
    });
    socket.once('error', reject);
    socket.once('close', () => {
      resolve();
    });
  });
}

/**
 * Closed-loop load over keep-alive connections.
 *
 * @throws Error when an answer has another status than expected: a fast refusal is no result.
 */
export async function load(address: string, options: LoadOptions): Promise<LoadResult> {
  const { seconds = Infinity, expected = 200, connections = CONNECTIONS } = options;
  const url = new URL(address);
  const startedAt = performance.now();
  const requests = prepare(url, options);
  const run: Run = {
    requests,
    expected: String(expected),
    endsAt: startedAt + seconds * 1_000,
    left: options.requests ?? Infinity,
    latenciesMs: [],
  };
  // Each connection begins elsewhere in the list, or all would ask for the same token at once.
  const offset = (connection: number) => Math.floor((requests.length / connections) * connection);
  await Promise.all(
    Array.from({ length: connections }, (_value, index) => runConnection(url, run, offset(index))),
  );
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  return {
    requestsPerSecond: run.latenciesMs.length / tookSeconds,
    p99Ms: percentile(run.latenciesMs, 0.99),
  };
}
