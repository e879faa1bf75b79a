import { sendBatches, type SendToPartition } from './partition-batch.js';
import type { PendingEvent } from './queries.js';

const event = (name: string): PendingEvent => ({
  event_id: name,
  event_key: name,
  event: '{}',
  position: '1',
  traceparent: null,
});
const refusal = Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });

/** Lets a time pass, and what is due in it happen step by step. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    jest.advanceTimersByTime(1_000);
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
  }
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test('a broker that is slow with many single events is not given up while it answers', async () => {
  const events = ['a', 'b', 'c', 'd'].map(event);
  const send: SendToPartition = async (_partition, { length }) => {
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    if (length > 1) throw refusal;
  };
  const { results } = sendBatches(send, new Map([[1, events]]));
  await pass(30);
  expect(await results).toEqual([{ partition: 1, published: events, fault: undefined }]);
});

test('a broker that hangs is given up 10 s after the last answer of any, and ends no other batch', async () => {
  const [a, b] = [event('a'), event('b')];
  const send: SendToPartition = (partition) =>
    new Promise((resolve) => {
      if (partition === 1) setTimeout(resolve, 6_000);
    });
  const settled = jest.fn();
  const { results } = sendBatches(send, new Map([[1, [a]], [2, [b]]])); // oxfmt-ignore
  void results.then(settled);
  await pass(15);
  expect(settled).not.toHaveBeenCalled();
  await pass(1);
  expect(await results).toEqual([
    { partition: 1, published: [a], fault: undefined },
    { partition: 2, published: [], fault: new Error('no answer within 10 s') },
  ]);
});

test('a refused event is offered by itself once, and those before it are published', async () => {
  const events = ['a', 'b', 'c'].map(event);
  const offers: string[] = [];
  const send: SendToPartition = async (_partition, offered) => {
    const names = offered.map(({ event_id: id }) => id).join('');
    offers.push(names);
    if (names.includes('b')) throw new Error('not sent', { cause: refusal });
  };
  const first = sendBatches(send, new Map([[1, events]]));
  expect(await first.results).toMatchObject([{ published: events.slice(0, 1) }]);
  const [, refused] = events;
  await sendBatches(send, new Map([[1, refused ? [refused] : []]])).results;
  expect(offers).toEqual(['abc', 'a', 'b', 'b']);
});
