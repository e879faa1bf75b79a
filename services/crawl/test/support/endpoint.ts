import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface Endpoint {
  readonly url: string;
  /** Every request so far. */
  readonly asked: Asked[];
  /** How it answers from now on. */
  answer: (asked: Asked, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Answers, unless the request has been answered before. */
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

/** A connector's endpoint, as good or bad as the test has it. */
export async function startEndpoint(): Promise<Endpoint> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const asked = { method, path, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
      endpoint.asked.push(asked);
      endpoint.answer(asked, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${port}/crawl`,
    asked: [],
    answer: (_asked, response) => {
      json(response, 200);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return endpoint;
}
