import { readJsonMembers, writeJsonMembers } from '@platform/service-kit';
import { createParser } from 'eventsource-parser';

/*
 * What callers and servers send one another through the platform is passed on byte for byte where the platform doesn't
 * read it: JSON.parse and JSON.stringify of the client would round numbers that a double cannot hold.
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

/**
 * Creates a function that reads the bytes of an answer as they pass, and keeps the first response to the request, which is the
 * one that the client takes.
 *
 * @param request - the message, as JSON.
 */
export function createResponseReader(request: string, isJson: boolean, texts: RelayedTexts) {
  const id = readJsonMembers(request).get('id');
  const decoder = new TextDecoder();
  let isFound = false;
  const keep = (message: string): void => {
    const members = readJsonMembers(message);
    if (isFound || members.has('method') || Number(members.get('id')) !== Number(id)) return;
    isFound = true;
    texts.response = message;
  };
  if (isJson) {
    let text = '';
    return {
      read: (chunk: Uint8Array): void => void (text += decoder.decode(chunk, { stream: true })),
      end: (): void => keep(text + decoder.decode()),
    };
  }
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === undefined || event === 'message') keep(data);
    },
  });
  return {
    read: (chunk: Uint8Array): void => parser.feed(decoder.decode(chunk, { stream: true })),
    end: (): void => parser.feed(decoder.decode()),
  };
}
