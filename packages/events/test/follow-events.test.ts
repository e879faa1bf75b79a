import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { followEvents, RequestError } from '../src/consumer.js';

/* The reader of the feed, when the platform refuses it or asks for a pause. */

let respond: (response: ServerResponse, requests: number) => void;
let times: number[] = [];
const server = createServer((_request, response) => {
  times.push(performance.now());
  respond(response, times.length);
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
beforeEach(() => {
  times = [];
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

function follow(faults: string[] = []) {
  const stopping = new AbortController();
  const options = {
    url,
    token: 't',
    readCursor: () => undefined,
    saveCursor: () => stopping.abort(),
    handle: () => undefined,
    onGap: () => undefined,
    onFault: (message: string) => faults.push(message),
    signal: stopping.signal,
    pollMs: 1,
  };
  return followEvents(options);
}

test.each([
  [401, { success: false, message: 'Unauthorized access' }, 'The platform answered 401: Unauthorized access'],
  [403, { error: { code: 'FORBIDDEN', message: 'Invalid token scope' } }, 'The platform answered 403: Invalid token scope'],
  [
    400,
    { success: false, message: 'Invalid request', error: { code: 'VALIDATION_ERROR', details: 'after: is no cursor' } },
    'The platform answered 400: Invalid request (after is no cursor)',
  ],
])('EVT-46 ends with the reason when the platform answers %d', async (status, body, message) => {
  respond = (response) => json(response, status, body);
  const faults: string[] = [];
  const error: unknown = await follow(faults).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RequestError);
  expect(error).toMatchObject({ status, message });
  expect([times.length, faults]).toEqual([1, []]);
}); // oxfmt-ignore

test.each([429, 503])('EVT-46 goes on after %d, when Retry-After says so', async (status) => {
  respond = (response, requests) =>
    requests === 1
      ? response.writeHead(status, { 'retry-after': '1' }).end('<html>')
      : json(response, 200, { data: [], nextCursor: 'c', hasMore: false });
  const faults: string[] = [];
  await follow(faults);
  expect(faults).toEqual([expect.stringMatching(new RegExp(`^The platform answered ${status}: [A-Z]`))]);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
});
