import { once } from 'node:events';
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { json } from 'node:stream/consumers';

/** The parts of a response that the tests examine. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
}

/** Sends a request with exactly this target, which `fetch` would normalise. */
export async function send<Body>(
  port: number,
  path: string,
  options: RequestOptions & { body?: string } = {},
) {
  const { body, ...rest } = options;
  const outgoing = request({ host: '127.0.0.1', port, path, agent: false, ...rest });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const answer: Answer<Body> = {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: (await json(incoming)) as Body,
  };
  return answer;
}
