import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ErrorFormat } from '../error-format.js';
import { getRequestId } from './request-id.js';
import type { RequestsInProgress } from './requests-in-progress.js';
import { toStatusError } from '../errors.js';

function renderStatus(format: ErrorFormat, status: number) {
  const { code, message } = toStatusError(status);
  return { message, body: JSON.stringify(format.render({ status, code, message })) };
}

/** Answers 400, 408 or 431 to what Node's parser rejects, in the body of a request too. */
export function createClientErrorHandler(format: ErrorFormat, requests: RequestsInProgress) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (!requests.isAnswerable(socket)) {
      socket.destroy(error);
      return;
    }
    const status =
      error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const { message, body } = renderStatus(format, status);
    if (socket.writable)
      socket.write(
        `HTTP/1.1 ${status} ${message}\r\ncontent-type: application/json; charset=utf-8\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${getRequestId({ headers: {} })}\r\n` +
          `connection: close\r\n\r\n${body}`,
      );
    socket.destroySoon();
  };
}

/** Answers 417 with a body to any `Expect` other than `100-continue` (RFC 9110 §10.1.1); Node would send none. */
export function registerExpectations(app: FastifyInstance, format: ErrorFormat): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { body } = renderStatus(format, 417);
    const headers = {
      'content-length': Buffer.byteLength(body),
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': getRequestId(request),
      connection: 'close',
    };
    response.writeHead(417, headers).end(body);
  });
}
