import fastify, { LogController } from 'fastify';
import { createLogger } from '../telemetry/logging.js';
import { REQUEST_ID_FIELD } from './request-id.js';

test('log lines of a request have its id and pass through the serializers of the logger', async () => {
  const lines: string[] = [];
  const log = createLogger('test', 'debug', { write: (line) => void lines.push(line) });
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: REQUEST_ID_FIELD }),
    genReqId: () => 'id-1',
  });
  app.get('/', (request) => {
    request.log.child({ part: 'inner' }).debug({ req: request }, 'seen');
    return {};
  });
  await app.inject({ url: '/?token=hidden', headers: { authorization: 'hidden' } });
  await app.inject('/unknown');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      service: 'test',
      requestId: 'id-1',
      part: 'inner',
      req: { method: 'GET', path: '/' },
      msg: 'seen',
    }),
  ]);
});
