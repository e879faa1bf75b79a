import { Type } from 'typebox';
import { createReader, type Exchange, type ExtensionMethods } from '../endpoint/methods.js';
import { compileCheck, type SchemaCheck } from '../endpoint/schema-check.js';
import { eventNotFound, invalidParams } from './errors.js';
import { type EventCaller, toEventCaller } from './event-caller.js';
import { type EventArguments, type EventType, eventTypes } from './event-types.js';
import { pollEvents } from './poll.js';
import { subscribe, type SubscriptionContext, unsubscribe } from './subscriptions.js';

/*
 * Events for agents (SEP-3415, final, and OpenAI's page about MCP events, both as of November 2026): clients ask for them with
 * `events/poll`, or are sent them after `events/subscribe`. There is no `events/stream`: a stateless replica holds no streams.
 * Where the two differ, it is as ChatGPT, which reads the page, wants it: the numbers of errors, `webhook-id`, which is the id
 * of the event, and no control messages to receivers.
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

const Url = Type.String({ minLength: 1, maxLength: 2_048 });
const SubscribeParams = Type.Object({
  ...followed,
  delivery: Type.Object({
    mode: Type.String(),
    url: Url,
    secret: Type.Optional(Type.String({ maxLength: 200 })),
  }),
  cursor: Type.Optional(Type.String()),
  maxAgeMs: Type.Optional(Type.Integer({ minimum: 0 })),
  ttlMs: Type.Optional(Type.Number()),
});
const UnsubscribeParams = Type.Object({ ...followed, delivery: Type.Object({ url: Url }) });

interface KnownType {
  readonly type: EventType;
  readonly check: SchemaCheck;
  readonly listed: object;
}

const DELIVERY = ['webhook', 'poll'] as const;

const known: ReadonlyMap<string, KnownType> = new Map(
  eventTypes.map((type) => {
    const { name, description, inputSchema, payloadSchema } = type;
    const listed = { name, description, delivery: DELIVERY, inputSchema, payloadSchema };
    return [name, { type, check: compileCheck(inputSchema, 'arguments'), listed }];
  }),
);

type GivenArguments = Readonly<Record<string, unknown>>;

/** Null in an optional argument counts as absence. */
const toArguments = (given: GivenArguments = {}): EventArguments =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as EventArguments;

/** Finds the type of events that a caller asks for. @throws RpcFault -32011, -32602. */
function findFollowed(
  caller: EventCaller,
  { name, arguments: given }: { readonly name: string; readonly arguments?: GivenArguments },
) {
  const found = known.get(name);
  if (!found?.type.isVisible(caller)) throw eventNotFound();
  const { type, check } = found;
  const args = toArguments(given);
  const [fault] = check(args);
  if (fault) throw invalidParams(`Invalid arguments: ${fault.field} ${fault.message}`);
  if (!type.accepts(args, caller)) throw invalidParams('Invalid arguments: unknown connector');
  return { type, args, caller };
}

/** Whoever subscribes, as the audit shows it. */
function toSubscriber({ caller: { context } }: Exchange) {
  const { principal, address } = context;
  const credential = { kind: principal.kind, id: principal.credentialId };
  return { principal, actor: { actorId: principal.userId, credential, client: address } };
}

/** Creates the methods of the extension. */
export function createEventMethods(ctx: SubscriptionContext): ExtensionMethods {
  const readList = createReader(ListParams);
  const readPoll = createReader(PollParams);
  const readSubscribe = createReader(SubscribeParams);
  const readUnsubscribe = createReader(UnsubscribeParams);
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
      return pollEvents(ctx, findFollowed(toCaller(exchange), params), params);
    },
    'events/subscribe': (exchange) => {
      const params = readSubscribe(exchange.request);
      const { type, args } = findFollowed(toCaller(exchange), params);
      return subscribe(ctx, toSubscriber(exchange), { ...params, type, args });
    },
    'events/unsubscribe': async (exchange) => {
      const { name, arguments: given, delivery } = readUnsubscribe(exchange.request);
      await unsubscribe(ctx, toSubscriber(exchange), { name, args: toArguments(given), url: delivery.url });
      return {};
    },
  };
}
