import { AppError, type Permits, tooManyRequests } from '@platform/service-kit';
import type { FastifyReply } from 'fastify';

/** Smaller bodies reserve no memory, because `SENDS_MAX` already limits how many there are. */
const MIN_COUNTED_BYTES = 131_072;

/** The reservation of one body in the memory that all bodies share. */
export interface BodyMemory {
  /** Extends the reservation. @throws AppError 429 when the organisation has no such share left. */
  growTo(bytes: number): void;
  /** Must be called when the route has responded, whether or not the client is still connected. */
  onResponse(): void;
}

/** Resolves when the response has closed. A pipelined response has no socket yet, and doesn't close when its client leaves. */
function waitForClose({ raw, request }: FastifyReply): Promise<void> {
  const { socket } = request.raw;
  return new Promise((resolve) => {
    const onClose = () => {
      socket.off('close', onClose);
      resolve();
    };
    raw.once('close', onClose);
    if (raw.socket) return;
    // Every pipelined request listens to the same socket.
    socket.setMaxListeners(0);
    socket.once('close', onClose);
  });
}

export function reserveBodyMemory(permits: Permits, owner: string, reply: FastifyReply): BodyMemory {
  // The client left while its credential was verified. `close` has already been emitted, so nothing would be released.
  if (reply.raw.destroyed || reply.request.raw.socket.destroyed) throw clientAborted(undefined);
  let held = 0;
  // `close` isn't enough: it is also emitted when the client leaves while its mail is still being delivered.
  const closed = waitForClose(reply);
  return {
    growTo(bytes) {
      if (bytes <= Math.max(held, MIN_COUNTED_BYTES)) return;
      if (!permits.tryAcquire(owner, bytes - held)) throw tooManyRequests(1, 'Too many large mails at once');
      held = bytes;
    },
    onResponse() {
      void closed.then(() => {
        permits.release(owner, held);
        held = 0;
      });
    },
  };
}

/** The client disconnected or broke the HTTP protocol. This is a 400, so that it isn't logged as a failure of the service. */
export const clientAborted = (cause: unknown): AppError =>
  new AppError({ status: 400, code: 'BAD_REQUEST', message: 'Bad request', cause });
