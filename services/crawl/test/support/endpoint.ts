import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  /** The body as it was sent. */
  readonly text: string;
  /** The time at which it arrived, in ms of the monotonic clock. */
  readonly at: number;
}

export interface Endpoint {
  readonly url: string;
  /** All requests so far. */
  readonly asked: Asked[];
  /** Responds to the requests. A test may replace it. */
  answer: (asked: Asked, response: ServerResponse) => void;
  /** Closes all connections and refuses new ones until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Responds with JSON, unless the request has had its response. */
export const json = (
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
};

/** Starts the endpoint of a connector. It responds with 200 until the test replaces `answer`. */
export async function startEndpoint(): Promise<Endpoint> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = text === '' ? undefined : (JSON.parse(text) as unknown);
      const asked = { method, path, headers, body, text, at: performance.now() };
      endpoint.asked.push(asked);
      endpoint.answer(asked, response);
    });
  });
  const listen = (at: number) => new Promise<void>((resolve) => void server.listen(at, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${port}/crawl`,
    asked: [],
    answer: (_asked, response) => {
      json(response, 200);
    },
    stop,
    start: () => listen(port),
    close: stop,
  };
  return endpoint;
}
