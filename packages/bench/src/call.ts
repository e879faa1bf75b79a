import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

/*
 * A client of our own: autocannon needed more of its core than the bare route of its own, and the
 * slower of the two is what gets measured. Requests are made beforehand; of an answer only the
 * status and the length are read.
 */
const READ_BUFFER_BYTES = 16_384;

export interface Call {
  /** Default GET, with a body POST. */
  readonly method?: string;
  readonly path: string;
  /** None: no `Authorization`. */
  readonly bearer?: string | undefined;
  readonly body?: object | undefined;
  /** Beside those of the bearer and the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The status; default 200. */
  readonly expected?: number;
}

/** The bytes of a call, and where the milliseconds of each of its answers go. */
export interface PreparedCall {
  readonly bytes: Buffer;
  readonly expected: string;
  readonly latenciesMs: number[];
}

export function prepareCall(url: URL, call: Call, latenciesMs: number[] = []): PreparedCall {
  const { path, bearer, body, method = body === undefined ? 'GET' : 'POST', expected = 200 } = call;
  const { headers = {} } = call;
  const others = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const payload = body === undefined ? '' : JSON.stringify(body);
  const describe =
    body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n`;
  const authorization = bearer === undefined ? '' : `authorization: Bearer ${bearer}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\n${describe}${authorization}${others.join('')}\r\n`;
  return { bytes: Buffer.from(head + payload), expected: String(expected), latenciesMs };
}

/** How many bytes are still to come of the answer whose beginning this is. */
function bytesMissing(head: string, bytes: number): number {
  const bodyAt = head.indexOf('\r\n\r\n') + 4;
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (bodyAt < 4 || length === undefined) throw new Error(`an answer in pieces: ${head.slice(0, 200)}`);
  return bodyAt + Number(length) - bytes;
}

/**
 * One keep-alive connection: a call, its answer, the next call in turn.
 *
 * @param calls - of them `first` is the first.
 * @param goesOn - asked after each answer, with `performance.now()`.
 * @throws Error when an answer has another status than expected: a fast refusal is no result.
 */
export function callInTurn(
  url: URL,
  calls: readonly PreparedCall[],
  goesOn: (now: number) => boolean,
  first = 0,
): Promise<void> {
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
      if (goesOn(now)) send(socket);
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
