import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '@platform/testing';
import type { IdentityUnderTest } from '../identity.js';

/** The rules of an operator who lets receivers run on this machine. */
export const ALLOW_RECEIVERS = { DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8' };

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a receiver, which answers 204 unless `answer` says otherwise, and keeps what it accepted. */
export async function startReceiver() {
  const accepted: Received[] = [];
  const refused: Received[] = [];
  let answer: (request: Received, response: ServerResponse) => number | undefined = () => 204;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const received = { path: request.url ?? '', headers: request.headers, body };
      const status = answer(received, response);
      (status !== undefined && status < 300 ? accepted : refused).push(received);
      // Undefined leaves the request without an answer.
      if (status !== undefined) (response.headersSent ? response : response.writeHead(status)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    refused,
    /** Changes how it answers: with the status, or not at all. */
    answerWith(next: typeof answer) {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Returns the fact of a request to a webhook. */
export const toFact = ({ body }: Received) =>
  JSON.parse(body) as { id: string; type: string; data: Record<string, unknown> };

/** Creates calls of the routes of destinations, with an administrator's session. */
export function createDestinations(identity: Pick<IdentityUnderTest, 'call'>, session: string) {
  const call = (method: string, path = '', body?: object): Promise<Answer> =>
    identity.call(method, `/api/v1/events/destinations${path}`, { token: session, ...(body && { body }) });
  return {
    call,
    async create(fields: object): Promise<{ id: string; secret: string }> {
      const { status, text, body } = await call('POST', '', { form: 'webhook', ...fields });
      if (status !== 201) throw new Error(`create answered ${status}: ${text}`);
      return { id: body.destination.id as string, secret: body.secret as string };
    },
    get: async (id: string) => (await call('GET', `/${id}`)).body.destination,
    listDeliveries: async (id: string, query = '') =>
      (await call('GET', `/${id}/deliveries?limit=100${query}`)).body.data,
  };
}
