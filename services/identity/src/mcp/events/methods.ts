import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { Type } from 'typebox';
import { createReader, type Exchange, type ExtensionMethods } from '../endpoint/methods.js';
import { compileCheck, type SchemaCheck } from '../endpoint/schema-check.js';
import { eventNotFound, invalidParams } from './errors.js';
import { type EventCaller, toEventCaller } from './event-caller.js';
import { type EventArguments, type EventType, eventTypes } from './event-types.js';
import { pollEvents } from './poll.js';

/*
 * Events for agents (SEP-3415, final, and OpenAI's page about MCP events, both as of November 2026): `events/list`, and
 * `events/poll` for clients that ask. There is no `events/stream`: a stateless replica holds no streams.
 */

const ListParams = Type.Object({ cursor: Type.Optional(Type.String()) });
const followed = {
  name: Type.String(),
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};
const PollParams = Type.Object({
  ...followed,
  cursor: Type.Optional(Type.String()),
  maxEvents: Type.Optional(Type.Integer({ minimum: 1 })),
  maxAgeMs: Type.Optional(Type.Integer({ minimum: 0 })),
});

interface KnownType {
  readonly type: EventType;
  readonly check: SchemaCheck;
  readonly listed: object;
}

const DELIVERY = ['poll'] as const;

const known: ReadonlyMap<string, KnownType> = new Map(
  eventTypes.map((type) => {
    const { name, description, inputSchema, payloadSchema } = type;
    const listed = { name, description, delivery: DELIVERY, inputSchema, payloadSchema };
    return [name, { type, check: compileCheck(inputSchema, 'arguments'), listed }];
  }),
);

/** Finds the type of events that a caller asks for. @throws RpcFault -32011, -32602. */
function findFollowed(
  caller: EventCaller,
  { name, arguments: args = {} }: { readonly name: string; readonly arguments?: Record<string, unknown> },
) {
  const found = known.get(name);
  if (!found?.type.isVisible(caller)) throw eventNotFound();
  const { type, check } = found;
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const [fault] = check(given);
  if (fault) throw invalidParams(`Invalid arguments: ${fault.field} ${fault.message}`);
  const checked = given as EventArguments;
  if (!type.accepts(checked, caller)) throw invalidParams('Invalid arguments: unknown connector');
  return { type, args: checked, caller };
}

/** Creates the methods of the extension. */
export function createEventMethods(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
}): ExtensionMethods {
  const readList = createReader(ListParams);
  const readPoll = createReader(PollParams);
  const toCaller = ({ caller: { context, catalogue } }: Exchange): EventCaller =>
    toEventCaller(context.principal, catalogue);
  return {
    'events/list': (exchange) => {
      // The list always fits on one page, so no cursor is ever valid.
      if (readList(exchange.request).cursor !== undefined) throw invalidParams('Unknown cursor');
      const caller = toCaller(exchange);
      const visible = [...known.values()].filter(({ type }) => type.isVisible(caller));
      return { events: visible.map(({ listed }) => listed) };
    },
    'events/poll': (exchange) => {
      const params = readPoll(exchange.request);
      return pollEvents(deps, findFollowed(toCaller(exchange), params), params);
    },
  };
}
