import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Answer, waitFor } from '@platform/testing';
import { Webhook } from 'standardwebhooks';
import type { IdentityUnderTest } from '../../identity.js';
import { type Received, startReceiver } from '../../destinations/receiver.js';
import { createCaller } from '../endpoint/endpoint.js';

export const createSecret = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`;

export interface Event {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
  readonly cursor: string;
}
export const toEvent = ({ body }: Received) => JSON.parse(body) as Event;

const openReceivers: { close(): Promise<unknown> }[] = [];
export const closeReceivers = () => Promise.all(openReceivers.splice(0).map(({ close }) => close()));

/** A receiver of events, which repeats challenges. It verifies nothing: see {@link verify}. */
export async function startEventReceiver() {
  const receiver = await startReceiver();
  openReceivers.push(receiver);
  const challenges: Received[] = [];
  let answer: (event: Received, response: ServerResponse) => number | undefined = () => 204;
  let answerChallenge = (challenge: string, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ challenge }));
  };
  receiver.answerWith((request, response) => {
    const { type, challenge } = JSON.parse(request.body) as { type?: string; challenge: string };
    if (type !== 'verification') return answer(request, response);
    challenges.push(request);
    answerChallenge(challenge, response);
    return undefined;
  });
  const events = (): Event[] => receiver.accepted.map(toEvent);
  return {
    url: receiver.url,
    accepted: receiver.accepted,
    challenges,
    events,
    /** The requests with events that it has refused. */
    refused: () => receiver.refused.filter((request) => !challenges.includes(request)),
    ids: () => events().map(({ eventId }) => eventId),
    close: receiver.close,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    answerChallengeWith: (next: typeof answerChallenge) => {
      answerChallenge = next;
    },
    received: (eventId: string) =>
      waitFor(() => receiver.accepted.find((request) => toEvent(request).eventId === eventId), {
        what: 'the event',
        patienceMs: 60_000,
      }),
  };
}

export const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

/** An agent that subscribes with a credential. */
export function createSubscriber(identity: Pick<IdentityUnderTest, 'call'>, token: string) {
  const { modern } = createCaller(identity, token);
  const subscribe = (
    name: string,
    url: string,
    { args = {}, secret = createSecret(), ...more }: { args?: object; secret?: string; [field: string]: unknown } = {},
  ): Promise<Answer> =>
    modern('events/subscribe', { name, arguments: args, delivery: { mode: 'webhook', url, secret }, ...more });
  return {
    modern,
    subscribe,
    /** Subscribes. @returns what the agent keeps. @throws when it is refused. */
    async follow(...given: Parameters<typeof subscribe>) {
      const answer = await subscribe(...given);
      if (!answer.body?.result) throw new Error(answer.text);
      return answer.body.result as { id: string; refreshBefore: string; cursor: string; truncated: boolean };
    },
    unsubscribe: (name: string, url: string, args: object = {}) =>
      modern('events/unsubscribe', { name, arguments: args, delivery: { mode: 'webhook', url } }),
  };
} // oxfmt-ignore
