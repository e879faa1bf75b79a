import { describeWith, testKafka } from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';

describeWith('kafka', 'the patch of kafkajs', () => {
  test('sets no timers for an idle connection', async () => {
    const { brokers } = await testKafka();
    const { setTimeout: original } = globalThis;
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    let timers = 0;
    globalThis.setTimeout = ((...args: Parameters<typeof original>) => {
      timers += 1;
      return original(...args);
    }) as typeof original;
    await new Promise((resolve) => original(resolve, 500));
    globalThis.setTimeout = original;
    await producer.disconnect();
    expect(timers).toBeLessThan(20);
  });
});
