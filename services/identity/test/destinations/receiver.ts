import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, waitFor } from '@platform/testing';
import { admin, type IdentityUnderTest } from '../identity.js';

/** The rules of an operator who lets receivers run on this machine. Mails are stored, and never sent. */
export const ALLOW_RECEIVERS = {
  DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8',
  MAIL_URL: 'http://127.0.0.1:9',
};

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

/** Creates calls of the routes of destinations, with the session of an administrator. */
export function createDestinations(
  { call: request }: Pick<IdentityUnderTest, 'call'>,
  getSession: () => string,
) {
  const call = (method: string, path = '', body?: object): Promise<Answer> =>
    request(method, `/api/v1/events/destinations${path}`, { token: getSession(), ...(body && { body }) });
  return {
    call,
    async create(fields: object): Promise<{ id: string; secret: string }> {
      const { status, text, body } = await call('POST', '', {
        form: 'webhook',
        types: ['token.created'],
        ...fields,
      });
      if (status !== 201) throw new Error(`create answered ${status}: ${text}`);
      return { id: body.destination.id as string, secret: body.secret as string };
    },
    get: async (id: string) => (await call('GET', `/${id}`)).body.destination,
    listDeliveries: async (id: string, query = '') =>
      (await call('GET', `/${id}/deliveries?limit=100${query}`)).body.data,
  };
}

const openReceivers: Receiver[] = [];
let count = 0;

/** Stops every destination, and closes the receivers. */
export async function closeScenes({ db }: IdentityUnderTest): Promise<void> {
  await db.query('update fact_destinations set is_enabled = false');
  await Promise.all(openReceivers.splice(0).map(({ close }) => close()));
}

/** A new organisation and its receiver for a test. */
export async function openScene(identity: IdentityUnderTest) {
  const email = `boss-${++count}@hooks.example`;
  const organisation = await identity.createOrganisation(email);
  const { orgId } = organisation;
  let { session } = organisation;
  const receiver = await startReceiver();
  openReceivers.push(receiver);
  const subjects = () => receiver.accepted.map((request) => toFact(request).data['subjectId']);
  return {
    email,
    orgId,
    receiver,
    destinations: createDestinations(identity, () => session),
    /** Calls the API with the administrator's session. */
    call: (method: string, path: string) => identity.call(method, path, { token: session }),
    createMember: () => identity.createMember(session),
    createAdministratorsToken: (scopes: string[]) => identity.createToken(session, { scopes }),
    /** Causes a fact. @returns the id of the token that it is about. */
    createToken: async (): Promise<string> =>
      (await identity.createToken(session, { scopes: ['user:read'] })).id,
    /** Signs in again after time has passed. */
    async pass(milliseconds: number): Promise<void> {
      identity.advance(milliseconds);
      session = await identity.login({ email, password: admin.password });
    },
    /** Returns what the facts are about that were accepted. */
    subjects,
    /** Waits for the fact about the token. */
    received: (subject: string, from: Receiver = receiver): Promise<Received> =>
      waitFor(() => from.accepted.find((request) => toFact(request).data['subjectId'] === subject), {
        what: 'the fact',
        // A request times out when the machine stalls for five seconds. The second repetition comes after a minute.
        patienceMs: 150_000,
      }),
    refused: (number: number) =>
      waitFor(() => receiver.refused.length >= number, { what: `${number} refusals` }),
    /** Waits until what became of the organisation's requests is stored. A claim that a change has stopped is never released. */
    settled: () =>
      waitFor(
        async () =>
          (
            await identity.db.query(
              'select from fact_destinations where org_id = $1 and is_enabled and claimed_until is not null',
              [orgId],
            )
          ).rowCount === 0,
        { what: 'the outcomes' },
      ),
  };
}
