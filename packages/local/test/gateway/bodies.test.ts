import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { send } from './send.js';
import { useGateway } from './use-gateway.js';

const platform = useGateway();

describe('an incomplete or unwanted body', () => {
  it.each([
    ['that its service refuses', '/mcp/refused', 413],
    ['for a service that is away', '/api/v1/mail/x', 503],
  ])('a large body %s always gets the response, and never a reset', async (_what, path, status) => {
    const body = 'x'.repeat(38_000_000);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const statuses = new Set<number>();
    for (let count = 0; count < 16; count += 1)
      statuses.add((await send(platform.port, path, { method: 'POST', headers, body })).status);
    expect(statuses).toEqual(new Set([status]));
  });

  it.each([
    ['refuses', '/mcp/refused', '{"refused":true}'],
    ['cannot take', '/api/v1/mail/x', '{"error":{"code":"SERVICE_UNAVAILABLE"'],
  ])('a body that a service %s gets a complete response before its end', async (_what, path, expected) => {
    const upload = request({ port: platform.port, path, method: 'POST', headers: { 'content-length': 100 } });
    upload.on('error', () => undefined);
    upload.write('x');
    const [answer] = (await once(upload, 'response')) as [IncomingMessage];
    expect(await text(answer)).toContain(expected);
    upload.destroy();
  });

  it('a service notices a client that disconnects in the middle of a body', async () => {
    const upload = request({
      port: platform.port,
      path: '/mcp',
      method: 'POST',
      headers: { 'content-length': 100 },
    });
    upload.on('error', () => undefined);
    upload.write('x');
    while (platform.identity.targets.length === 0) await nextTurn();
    const cutOff = once(platform.identity.events, 'cutOff');
    upload.destroy();
    expect(await cutOff).toEqual(['/mcp']);
  });
});
