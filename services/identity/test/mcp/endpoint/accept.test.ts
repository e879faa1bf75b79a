import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startIdentity } from '../../identity.js';
import { VERSION } from './endpoint.js';
import { startFixtureEndpoint } from './fixture-endpoint.js';

/* Clients in the field, and people with curl, rarely send the `Accept` header that the transport asks for. */

const identity = await startIdentity();
const endpoint = await startFixtureEndpoint(identity.url, await identity.login());
afterAll(async () => {
  await endpoint.close();
  await identity.close();
});

const eras = ['legacy', 'modern'] as const;
type Era = (typeof eras)[number];

/** Sends with Node's own client, which adds no `Accept` header. */
async function post(message: object, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = { 'content-type': 'application/json', ...headers };
    request(endpoint.url, { method: 'POST', headers: sent }, resolve)
      .on('error', reject)
      .end(JSON.stringify(message));
  });
  const body = await text(response);
  const type = String(response.headers['content-type']).split(';')[0];
  const messages = type === 'text/event-stream' ? readEvents(body) : [JSON.parse(body)];
  return { status: response.statusCode, type, messages };
}

const readEvents = (stream: string) =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

function send(era: Era, accept: string | undefined, method: string, params: object = {}, meta: object = {}) {
  const { name } = params as { name?: string };
  const headers = {
    ...(accept !== undefined && { accept }),
    ...(era === 'modern' && { 'mcp-protocol-version': VERSION, 'mcp-method': method }),
    ...(era === 'modern' && name && { 'mcp-name': name }),
  };
  const envelope = era === 'modern' && {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...envelope, ...meta } } };
  return post(message, headers);
}

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const withJson = [
  undefined, '', '*/*', JSON_TYPE, 'application/*, text/*', 'APPLICATION/JSON', 'Application/Json;q=0.5',
  'application/json, text/event-stream;q=0', 'text/html, */*;q=0.1',
]; // prettier-ignore
const withEither = ['application/json, text/event-stream', 'TEXT/EVENT-STREAM, APPLICATION/JSON'];

describe.each(eras)('%s', (era) => {
  const call = (accept: string | undefined, meta = {}) =>
    send(era, accept, 'tools/call', { name: 'test_simple_text' }, meta);
  const callWithProgress = (accept: string | undefined) =>
    send(era, accept, 'tools/call', { name: 'test_tool_with_progress' }, { progressToken: 'p' });

  test.each([...withJson, ...withEither])(
    'answers JSON to Accept: %s',
    async (accept) => {
      const list = await send(era, accept, 'tools/list');
      expect(list).toMatchObject({ status: 200, type: JSON_TYPE, messages: [{ id: 1, result: { tools: [{}, {}, {}] } }] });
      for (const answer of [await call(accept), await call(accept, { other: true })])
        expect(answer).toMatchObject({ status: 200, type: JSON_TYPE, messages: [{ id: 1, result: { structuredContent: {} } }] });
    },
  ); // prettier-ignore

  test.each(withJson)('answers JSON without progress to Accept: %s', async (accept) => {
    const { status, type, messages } = await callWithProgress(accept);
    expect([status, type, messages]).toMatchObject([
      200,
      JSON_TYPE,
      [{ id: 1, result: { structuredContent: { text: 'done' } } }],
    ]);
  });

  test.each([...withEither, STREAM_TYPE])('streams progress to Accept: %s', async (accept) => {
    const { status, type, messages } = await callWithProgress(accept);
    expect([status, type]).toEqual([200, STREAM_TYPE]);
    expect(messages.map(({ params, id }) => params?.progress ?? id)).toEqual([0, 50, 100, 1]);
  });

  test('answers with a stream when the client accepts nothing else', async () => {
    for (const accept of [STREAM_TYPE, 'Text/Event-Stream', 'text/*', 'text/event-stream, */*;q=0']) {
      const list = await send(era, accept, 'tools/list');
      expect(list).toMatchObject({ status: 200, type: STREAM_TYPE, messages: [{ id: 1, result: { tools: {} } }] });
      expect(await call(accept)).toMatchObject({ type: STREAM_TYPE, messages: [{ id: 1, result: {} }] });
    }
  }); // prettier-ignore

  test('answers 406 when the client accepts neither form', async () => {
    for (const accept of ['text/html', '*/*;q=0', 'image/*, application/json;q=0'])
      expect(await send(era, accept, 'tools/list')).toMatchObject({
        status: 406,
        messages: [{ jsonrpc: '2.0', id: null, error: { message: expect.stringMatching(/text\/event-stream/) } }],
      });
  }); // prettier-ignore
});

test('answers 406 to a subscription, which is always a stream, when the client accepts only JSON', async () => {
  const listen = (accept: string) =>
    send('modern', accept, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  expect(await listen('*/*')).toMatchObject({ status: 406 });
  expect(await listen('text/event-stream')).toMatchObject({ status: 200, type: STREAM_TYPE });
});

test('lets a client of an older revision initialise without an Accept header', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  expect(await send('legacy', undefined, 'initialize', params)).toMatchObject({
    status: 200,
    type: JSON_TYPE,
    messages: [{ result: { protocolVersion: '2025-11-25' } }],
  });
});
