import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ErrorFamily } from '../error-family.js';
import { getRequestId } from './request-id.js';
import type { RequestsInProgress } from './requests-in-progress.js';
import { errorOfStatus } from './translate-error.js';

function renderStatus(family: ErrorFamily, status: number) {
  const { code, message } = errorOfStatus(status);
  return { message, body: JSON.stringify(family.render({ status, code, message })) };
}

/** Faults that Node's parser finds before there is a request: 400, 408, 431. */
export function createClientErrorHandler(family: ErrorFamily, requests: RequestsInProgress) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (requests.isBusy(socket)) {
      socket.destroy(error);
      return;
    }
    const status =
      error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
    const { message, body } = renderStatus(family, status);
    if (socket.writable)
      socket.write(
        `HTTP/1.1 ${status} ${message}\r\ncontent-type: application/json; charset=utf-8\r\n` +
          `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${getRequestId({ headers: {} })}\r\n` +
          `connection: close\r\n\r\n${body}`,
      );
    socket.destroySoon();
  };
}

/** An `Expect` other than `100-continue`, which Node would refuse without a body (RFC 9110 §10.1.1). */
export function registerExpectations(app: FastifyInstance, family: ErrorFamily): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { body } = renderStatus(family, 417);
    const headers = {
      'content-length': Buffer.byteLength(body),
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': getRequestId(request),
      connection: 'close',
    };
    response.writeHead(417, headers).end(body);
  });
}
