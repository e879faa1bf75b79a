import { readJsonMembers, writeJsonMembers } from '@platform/service-kit';
import { createParser } from 'eventsource-parser';

/*
 * What callers and servers send one another through the platform is passed on byte for byte where the platform doesn't
 * read it: JSON.parse and JSON.stringify of the client would round numbers that a double cannot hold. So the messages
 * are read here, on their way between the client and the server.
 */

/** The parts of a call that are passed on as the caller sent them, as JSON. */
export interface CallTexts {
  readonly arguments: string;
  /** The members of `_meta`. */
  readonly meta: ReadonlyMap<string, string>;
}

/** The texts of one operation: those of the call that it sends, and the response to its last request. */
export interface RelayedTexts {
  call?: CallTexts;
  response?: string;
}

/** Returns a message of the client with the caller's parts in it. What the client itself puts in `_meta` stays. */
export function withCallTexts(message: string, { arguments: args, meta }: CallTexts): string {
  const members = readJsonMembers(message);
  if (members.get('method') !== '"tools/call"') return message;
  const params = readJsonMembers(members.get('params') ?? '{}').set('arguments', args);
  const ownMeta = readJsonMembers(params.get('_meta') ?? '{}');
  if (meta.size + ownMeta.size > 0)
    params.set('_meta', writeJsonMembers([...new Map([...meta, ...ownMeta])]));
  return writeJsonMembers(members.set('params', writeJsonMembers(params)));
}

/** The members of results that the platform reads itself, by method. */
const OWN_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['tools/call', 'content'],
]);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const withoutNulls = (_key: string, value: unknown): unknown => value ?? undefined;

/**
 * Returns a result as the client gets it, which checks strictly and as a whole: one null would make a list of two hundred
 * tools unusable. It reads the frame, and the platform the rest.
 */
const toFrame = ({ resultType }: Readonly<Record<string, unknown>>, member: string) => ({
  resultType,
  [member]: [],
  ttlMs: 0,
  cacheScope: 'private',
});

/**
 * Creates a function that reads each message of an answer before the client does. It keeps the first response to the request, which
 * is the one that the client takes, and returns the message for the client: null in an optional member is absence.
 *
 * @param request - the message that is answered, as JSON.
 */
export function createResponseReader(request: string, texts: RelayedTexts): (text: string) => string {
  const { id, method } = JSON.parse(request) as { readonly id?: unknown; readonly method: string };
  const member = OWN_MEMBERS.get(method);
  let isFound = false;
  return (text) => {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return text;
    }
    if (!isObject(message)) return text;
    if ('method' in message) return JSON.stringify(message, withoutNulls);
    if (!isFound && Number(message['id']) === Number(id)) {
      isFound = true;
      texts.response = text;
    }
    const { result } = message;
    const framed = member !== undefined && isObject(result) ? toFrame(result, member) : result;
    return JSON.stringify({ ...message, result: framed }, withoutNulls);
  };
}

type Filter = TransformStream<Uint8Array, Uint8Array>;

/** Passes the message of a JSON answer through the reader. */
export function createJsonFilter(read: (text: string) => string): Filter {
  const decoder = new TextDecoder();
  let text = '';
  return new TransformStream({
    transform(chunk) {
      text += decoder.decode(chunk, { stream: true });
    },
    flush(controller) {
      controller.enqueue(Buffer.from(read(text + decoder.decode())));
    },
  });
}

/** Passes each message of an event stream through the reader as it comes. */
export function createEventFilter(read: (text: string) => string): Filter {
  const decoder = new TextDecoder();
  let send: (message: string) => void = () => undefined;
  const parser = createParser({
    onEvent({ event, data }) {
      // The client takes no other events. What is no JSON can have several lines.
      if (event === undefined || event === 'message') send(read(data).replaceAll('\n', '\ndata: '));
    },
  });
  return new TransformStream({
    start(controller) {
      send = (message) => controller.enqueue(Buffer.from(`data: ${message}\n\n`));
    },
    transform(chunk) {
      parser.feed(decoder.decode(chunk, { stream: true }));
    },
  });
}
