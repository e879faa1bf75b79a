import { describeWith, firstCopiesByKey, waitFor } from '@platform/testing';
import { createRecordingLog } from './support/recording-log.js';
import { countLeaderless } from './support/topic.js';
import { useTwoBrokers } from './support/two-brokers.js';

// Waits are for events, not for a fast machine: a run beside others must pass too.
describeWith('own-kafka', 'relay and a cluster that loses a broker', () => {
  const site = useTwoBrokers();

  test('publishes to the remaining partitions, holds the events of the lost one, and loses nothing', async () => {
    const { database, brokers } = site;
    const topic = await site.createSplitTopic();
    const log = createRecordingLog();
    site.createRelay({ topic, log }).start();
    const pending = (count: number) =>
      waitFor(async () => (await database.countPending()) === count, {
        what: `${count} pending`,
      });
    await database.addMany(100, 10);
    await pending(0);

    await site.second.kill();
    await database.addMany(100, 10);
    await waitFor(() => log.lines.some(({ level }) => level === 'warn'), {
      what: 'noticing',
    });
    const left = await waitFor(
      async () => {
        const count = await database.countPending();
        return count < 100 && count;
      },
      { what: 'the first partition' },
    );
    await database.addMany(100, 10);
    await pending(left * 2);
    // The cluster has given the broker up: what it tells now is a topic with a partition that has no leader.
    await waitFor(async () => (await countLeaderless(brokers, topic)) === 1, {
      what: 'giving the broker up',
    });
    await database.addMany(100, 10);
    await pending(left * 3);

    await site.second.start();
    await pending(0);
    const { messages } = await site.readTopic(topic);
    await waitFor(() => new Set(messages.map(({ event }) => event.eventId)).size === 400, {
      what: 'all events',
    });
    expect(firstCopiesByKey(messages)).toEqual(await database.idsByKey());
    const warnings = log.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(warnings.length).toBeLessThanOrEqual(4);
  });
});
