import { AppError, type Logger } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openEventStream } from './event-stream.js';
import type { Exchange, Method, Methods } from './methods.js';
import { type ProtocolEra, resolveEra } from './protocol-era.js';
import type { ResponseForm } from './response-form.js';
import {
  isObject,
  type Json,
  parseMessage,
  RpcCode,
  RpcFault,
  type RpcRequest,
  toErrorResponse,
  toResponse,
} from './rpc-message.js';
import type { Caller } from './tool-calls.js';
import type { Progress } from './tool.js';

/** Reports the progress of a call to its client. */
export type ReportProgress = (progress: Progress) => void;

/**
 * Creates the caller of a request.
 *
 * @param report - undefined when the client doesn't receive progress.
 */
type CreateCaller = (report: ReportProgress | undefined) => Caller;

/** Its response is always a stream, which begins with an acknowledgement. */
const SUBSCRIBE = 'subscriptions/listen';

const getProgressToken = ({ params }: RpcRequest): string | number | undefined => {
  const token = isObject(params['_meta']) ? params['_meta']['progressToken'] : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
};

/** @throws AppError 406 when the response would have to be a stream. */
function wantsStream(request: RpcRequest, form: ResponseForm): boolean {
  if (form === 'json' && request.method === SUBSCRIBE) {
    const message = `Not acceptable: ${SUBSCRIBE} is answered with text/event-stream`;
    throw new AppError({ status: 406, code: 'NOT_ACCEPTABLE', message });
  }
  if (form !== 'either') return form === 'stream';
  return request.method === SUBSCRIBE || getProgressToken(request) !== undefined;
}

/** @throws RpcFault -32601, which has its own HTTP status in the stateless revision only. */
function findMethod(methods: Methods, era: ProtocolEra, name: string): Method {
  const method = methods[era].get(name);
  if (method) return method;
  throw new RpcFault(RpcCode.methodNotFound, 'Method not found', { status: era === 'modern' ? 404 : 200 });
}

/** Fastify adds the charset to text only. */
const JSON_TYPE = 'application/json; charset=utf-8';
const sendJson = (reply: FastifyReply, json: string | Buffer, status = 200): FastifyReply =>
  reply.code(status).type(JSON_TYPE).send(json);

/** Handles the messages of `POST /mcp`, of either era. */
export function createMessageHandler(methods: Methods, log: Pick<Logger, 'error'>) {
  /** Responds with the events that the method sends, then with its result or fault. Never rejects. */
  async function stream(
    method: Method,
    request: RpcRequest,
    reply: FastifyReply,
    createCaller: CreateCaller,
  ): Promise<void> {
    const events = openEventStream(reply);
    const notify: Exchange['notify'] = (name, params) => {
      events.send(JSON.stringify({ jsonrpc: '2.0', method: name, params }));
    };
    const progressToken = getProgressToken(request);
    const report: ReportProgress = (progress) => {
      notify('notifications/progress', { progressToken, ...progress });
    };
    try {
      const caller = createCaller(progressToken === undefined ? undefined : report);
      events.send(toResponse(request.id, await method({ request, caller, notify })).toString());
    } catch (error) {
      if (!(error instanceof RpcFault)) log.error({ err: error, method: request.method }, 'a method failed');
      const fault = error instanceof RpcFault ? error : new RpcFault(RpcCode.internalError, 'Internal error');
      events.send(toErrorResponse(request.id, fault));
    }
    events.end();
  }

  async function respond(
    rpc: RpcRequest,
    { headers }: FastifyRequest,
    reply: FastifyReply,
    form: ResponseForm,
    createCaller: CreateCaller,
  ): Promise<FastifyReply> {
    const method = findMethod(methods, resolveEra(rpc, headers), rpc.method);
    if (wantsStream(rpc, form)) {
      void stream(method, rpc, reply, createCaller);
      return reply;
    }
    const result = await method({ request: rpc, caller: createCaller(undefined), notify: () => undefined });
    return sendJson(reply, toResponse(rpc.id, result));
  }

  /** @throws AppError for what is no fault of the protocol. */
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    form: ResponseForm,
    createCaller: CreateCaller,
  ): Promise<FastifyReply> => {
    let rpc: RpcRequest | undefined;
    try {
      rpc = parseMessage(request.body as Json);
      if (rpc) return await respond(rpc, request, reply, form, createCaller);
    } catch (error) {
      if (error instanceof RpcFault)
        return sendJson(reply, toErrorResponse(rpc?.id ?? null, error), error.status);
      throw error;
    }
    return reply.code(202).send();
  };
}
