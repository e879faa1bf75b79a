import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Platform } from './platform.js';

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

type Respond = (asked: Asked, response: ServerResponse) => void;

export interface Endpoint {
  readonly url: string;
  /** All requests so far. */
  readonly asked: Asked[];
  /** The responses that wait for `release`. */
  readonly held: ServerResponse[];
  /** Responds to the requests. A test may replace it. */
  answer: Respond;
  /** Responds in the same way to all requests from now on. */
  reply(status: number, body?: unknown, headers?: Record<string, string>): void;
  /** Holds the responses to all requests from now on. */
  hold(): void;
  /** Responds to the requests that are held. */
  release(status?: number): void;
  /** Forgets all requests, and responds with 200 from now on. */
  reset(): void;
  /** Closes all connections and refuses new ones until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Registers an endpoint for an organisation, by default that of the platform's first administrator. Returns its secret,
 * and the fields of a schedule that it crawls for.
 */
export async function registerEndpoint(platform: Platform, url: string, token = platform.admin.token) {
  const { data } = (await platform.call('POST', '/endpoints', { token, body: { url } })).body;
  const { endpointId, secret } = data as { endpointId: string; secret: string };
  return { secret, worker: { worker: 'endpoint', endpointId } } as const;
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

/** Accepts each order as the task `/tasks/7`, and reports how far it is. */
export const followTask =
  (report: () => object): Respond =>
  ({ method }, response) => {
    const headers = { location: '/tasks/7', 'retry-after': '0' };
    if (method === 'POST') json(response, 202, {}, headers);
    else json(response, 200, report(), headers);
  };

/** Starts the endpoint of a connector. It responds with 200 until the test says otherwise. */
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
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${port}/crawl`,
    asked: [],
    held: [],
    answer: (_asked, response) => json(response, 200),
    reply(...reply) {
      endpoint.answer = (_asked, response) => json(response, ...reply);
    },
    hold() {
      endpoint.answer = (_asked, response) => void endpoint.held.push(response);
    },
    release(status = 200) {
      for (const response of endpoint.held.splice(0)) json(response, status);
    },
    reset() {
      endpoint.asked.length = 0;
      endpoint.held.length = 0;
      endpoint.reply(200);
    },
    async stop() {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
    start: () => listen(port),
  };
  return endpoint;
}
