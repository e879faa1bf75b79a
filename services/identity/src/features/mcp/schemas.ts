import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';
import { bearer } from '../../openapi.js';

/*
 * What the documentation says of the endpoint. Messages are checked by the protocol's own rules, which know both of its
 * eras; its answers are JSON by the time they are sent.
 */

const Id = Type.Union([Type.String(), Type.Integer()]);
/** Also one that no request may have: an answer to such a request repeats it. */
const AnsweredId = Type.Union([Type.String(), Type.Number(), Type.Null()]);
const Version = Type.Literal('2.0');
const AnyObject = Type.Record(Type.String(), Type.Unknown());

const Message = Type.Object(
  {
    jsonrpc: Version,
    id: Type.Optional(Id),
    method: Type.String({ description: 'Such as `tools/list` or `tools/call`.' }),
    params: Type.Optional(AnyObject),
  },
  { title: 'ToolMessage' },
);

const Fault = Type.Object({
  code: Type.Integer(),
  message: Type.String(),
  data: Type.Optional(Type.Unknown()),
});

export const MessageFault = Type.Object(
  { jsonrpc: Version, id: Type.Optional(AnsweredId), error: Fault },
  { title: 'ToolFault' },
);

const MessageResponse = Type.Object(
  {
    jsonrpc: Version,
    id: Type.Optional(AnsweredId),
    result: Type.Optional(AnyObject),
    error: Type.Optional(Fault),
  },
  { title: 'ToolAnswer' },
);

const FAULTS = [400, 401, 403, 404, 406, 408, 413, 415, 429, 500, 503];

export const messageSchema: FastifySchema = {
  operationId: 'callTools',
  tags: ['Remote tools'],
  summary: 'Remote tools: the Model Context Protocol over Streamable HTTP, stateless',
  security: bearer,
  body: Message,
  response: {
    200: {
      description: 'The answer; an event stream when the client takes one and asked for progress.',
      content: {
        'application/json': { schema: MessageResponse },
        'text/event-stream': { schema: Type.String() },
      },
    },
    202: Type.Null({ description: 'A notification was accepted.' }),
    ...Object.fromEntries(FAULTS.map((status) => [status, MessageFault])),
  },
};
