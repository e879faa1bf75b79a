import type { FastifySchema } from 'fastify';
import { Type } from 'typebox';

/*
 * These schemas are for the API documentation only. Messages are validated by the protocol's own rules for either era,
 * and responses are already serialised when they are sent.
 */

const Id = Type.Union([Type.String(), Type.Integer()]);
/** The id of a response. It repeats that of the request, even an invalid one. */
const AnsweredId = Type.Union([Type.String(), Type.Number(), Type.Null()]);
const Version = Type.Literal('2.0');
const AnyObject = Type.Record(Type.String(), Type.Unknown());

const Message = Type.Object(
  {
    jsonrpc: Version,
    id: Type.Optional(Id),
    method: Type.String({ description: 'Such as `tools/list` or `tools/call`.' }),
    params: Type.Optional(Type.Union([AnyObject, Type.Null()], { description: 'Null is none.' })),
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
  description:
    'JSON-RPC 2.0, of the revisions 2026-07-28 and earlier ones; each request stands alone. Which tools there are, and what each call may do, depends on the scopes, role, groups and bounds of the credential. Errors of a tool are results with `isError`. Only POST is served.',
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
