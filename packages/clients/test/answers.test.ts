import { createCrawlClient, createInternalMailClient } from '../src/index.js';
import { answer, context, type Handler, paused, startFakeService, toFault } from './fake-service.js';

const service = await startFakeService();
const client = createCrawlClient({ baseUrl: service.url, timeoutMs: 20_000 });
afterAll(async () => {
  await client.close();
  await service.close();
});

const pause = (options: object = {}) =>
  client.call('pause', { path: { connector: 'wiki_1' } }, { ...context, ...options });

test('reads a refusal in either format', async () => {
  const body = {
    success: false,
    message: 'Job is already paused',
    error: { code: 'PAUSED', details: 'a: b' },
  };
  service.onRequest((_request, response) => answer(response, 400, body));
  const expected = {
    kind: 'refused',
    status: 400,
    message: 'Job is already paused',
    code: 'PAUSED',
    details: [{ field: 'a', message: 'b' }],
  };
  expect(await toFault(pause())).toMatchObject(expected);
  service.onRequest((_request, response) =>
    answer(response, 422, {
      error: { code: 'X', message: 'No', details: [{ field: 'a', message: 'is b' }] },
    }),
  );
  expect(await toFault(pause())).toMatchObject({
    kind: 'refused',
    status: 422,
    message: 'No',
    details: [{ field: 'a', message: 'is b' }],
  });
});

test('returns each documented success of an operation, and nothing else', async () => {
  const mail = createInternalMailClient({ baseUrl: service.url, timeoutMs: 20_000 });
  const body = {
    orgId: 'org',
    emailTemplateType: 'loginWithOTP' as const,
    sendEmailTo: ['a@b.example'],
    subject: 'Your code',
    templateData: {},
  };
  const send = () => mail.call('sendEmailForOrganisation', { body }, { token: 'a.b.c', orgId: 'org' });
  const sent = { data: { status: true, data: 'Email sent' } };
  const id = '0190a0b0-0000-7000-8000-000000000001';
  const accepted = { data: { status: true, data: 'Email accepted', id } };
  service.onRequest((request, response) => {
    expect(request.headers).not.toHaveProperty('x-request-id');
    answer(response, 200, sent);
  });
  expect(await send()).toEqual(sent);
  service.onRequest((_request, response) => answer(response, 202, accepted));
  expect(await send()).toEqual(accepted);
  service.onRequest((_request, response) => answer(response, 202, sent));
  expect(await toFault(send())).toMatchObject({ kind: 'invalid_response' });
  service.onRequest((_request, response) => answer(response, 201, sent));
  expect(await toFault(send())).toMatchObject({ kind: 'invalid_response' });
  await mail.close();
});

test.each<[status: number, code: string, kind: string, message: string]>([
  [500, 'DELIVERY_UNKNOWN', 'failed', 'Error; whether it was done is unknown'],
  [500, 'INTERNAL_ERROR', 'failed', 'Error; whether it was done is unknown'],
  [503, 'SERVICE_UNAVAILABLE', 'failed', 'Error; whether it was done is unknown'],
  [504, 'GATEWAY_TIMEOUT', 'failed', 'Error; whether it was done is unknown'],
  [500, 'SMTP_ERROR', 'refused', 'Error; it was not sent'],
  [503, 'NOTHING_DONE', 'refused', 'Error; nothing was done'],
])('reads %d %s as %s', async (status, code, kind, message) => {
  service.onRequest((_request, response) => answer(response, status, { error: { code, message: 'Error' } }));
  expect(await toFault(pause())).toMatchObject({ kind, status, code, message });
});

test('never reports the outcome of a read as unknown', async () => {
  const list = () => client.call('listConnectors', {}, context);
  service.onRequest((_request, response) => answer(response, 503, { message: 'Later' }));
  expect(await toFault(list())).toMatchObject({ kind: 'refused', status: 503, message: 'Later' });
  service.onRequest((_request, response) => answer(response, 500, { message: 'Broken' }));
  expect(await toFault(list())).toMatchObject({ kind: 'failed', status: 500, message: 'Broken' });
  service.onRequest((_request, response) => response.end('<html>'));
  expect(await toFault(list())).toMatchObject({
    kind: 'invalid_response',
    message: "The crawl service gave an answer that can't be understood.",
  });
});

test.each([[[null]], [[{}, 1, 'a']], [[{ field: {}, message: null }]], [{}], [null]])(
  'reads a refusal whose details are invalid (%j)',
  async (details) => {
    service.onRequest((_request, response) => answer(response, 400, { error: { message: 'No', details } }));
    expect(await toFault(pause())).toMatchObject({ kind: 'refused', message: 'No', details: [] });
  },
);

test.each<[string, Handler]>([
  ['a page', (_request, response) => response.writeHead(200).end('<html>')],
  ['a page with an error status', (_request, response) => response.writeHead(502).end('<html>')],
  ['nothing', (_request, response) => response.writeHead(200).end()],
  ['null', (_request, response) => answer(response, 200, null)],
  ['an error without a message', (_request, response) => answer(response, 500, { error: {} })],
  ['a success of another shape', (_request, response) => answer(response, 200, { success: true, data: {} })],
  ['a success with another status', (_request, response) => answer(response, 202, paused)],
  ['a redirect', (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  ['10 MiB', (_request, response) => answer(response, 200, 'x'.repeat(10 * 1_048_576))],
  ['no HTTP', (request) => request.socket.end('hello\r\n\r\n')],
])('fails with invalid_response when the service answers %s', async (_what, answerWrongly) => {
  service.onRequest(answerWrongly);
  const fault = await toFault(pause());
  expect(fault).toMatchObject({
    kind: 'invalid_response',
    message: expect.stringContaining('The crawl service gave'),
  });
});
