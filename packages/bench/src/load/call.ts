import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

/*
 * A minimal HTTP client. autocannon used more of its core than the bare route used of the other, so it would have measured
 * itself. Requests are serialised in advance, and only the status and the length of each response are parsed.
 */
const READ_BUFFER_BYTES = 16_384;

export interface Call {
  /** Default: POST with a body or a form, GET without. */
  readonly method?: string;
  /** Default: the path of the URL. */
  readonly path?: string;
  /** Without one, no `Authorization` header is sent. */
  readonly bearer?: string | undefined;
  readonly body?: object;
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>;
  /** Headers besides those. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The expected status. Default: 200. */
  readonly expected?: number;
}

/** A serialised request, and the list that collects its latencies. */
export interface PreparedCall {
  readonly bytes: Buffer;
  readonly expected: string;
  readonly latenciesMs: number[];
}

export function prepareCall(address: string, call: Call, latenciesMs: number[] = []): PreparedCall {
  const url = new URL(address);
  const { path = url.pathname, bearer, body, form, headers = {}, expected = 200 } = call;
  const payload = form ? new URLSearchParams(form).toString() : (JSON.stringify(body) ?? '');
  const { method = payload === '' ? 'GET' : 'POST' } = call;
  const all = {
    host: url.host,
    ...(payload !== '' && {
      'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json',
      'content-length': String(Buffer.byteLength(payload)),
    }),
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${payload}`);
  return { bytes, expected: String(expected), latenciesMs };
}

/** Calculates how many bytes of a response are missing after its first chunk. */
function bytesMissing(head: string, bytes: number): number {
  const bodyAt = head.indexOf('\r\n\r\n') + 4;
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (bodyAt < 4 || length === undefined)
    throw new Error(`the response head is incomplete or has no length: ${head.slice(0, 200)}`);
  return bodyAt + Number(length) - bytes;
}

/**
 * Sends the calls in turn over one keep-alive connection, each after the response to the one before.
 *
 * @param calls - the calls to repeat, starting with the one at index `first`.
 * @param shouldContinue - called after each response with `performance.now()`.
 * @throws Error when a response has an unexpected status: fast refusals must not count as results.
 */
export function callInTurn(
  address: string,
  calls: readonly PreparedCall[],
  shouldContinue: (now: number) => boolean,
  first = 0,
): Promise<void> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    let next = first;
    let call = calls[0] as PreparedCall;
    let sentAt = 0;
    let missing = 0;
    const send = (socket: Socket) => {
      call = calls[next++ % calls.length] as PreparedCall;
      sentAt = performance.now();
      socket.write(call.bytes);
    };
    const receive = (bytes: number, buffer: Uint8Array) => {
      if (missing > 0) missing -= bytes;
      else {
        const head = (buffer as Buffer).toString('latin1', 0, bytes);
        if (head.slice(9, 12) !== call.expected)
          throw new Error(
            `expected ${call.expected}, was ${head.slice(9, 12)}: ${head.slice(head.indexOf('\r\n\r\n'))}`,
          );
        missing = bytesMissing(head, bytes);
      }
      if (missing > 0) return;
      const now = performance.now();
      call.latenciesMs.push(now - sentAt);
      if (shouldContinue(now)) send(socket);
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
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread });
    socket.once('connect', () => {
      send(socket);
    });
    socket.once('error', reject);
    socket.once('close', () => {
      resolve();
    });
  });
}
