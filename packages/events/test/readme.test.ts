import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describeWith, testKafka } from '@platform/testing';
import { Kafka, logLevel } from 'kafkajs';
import { createSyncEvent, toKafkaMessage } from '../src/index.js';
import { createTopic, newTopic } from './support/topic.js';

const packageDir = join(__dirname, '..');

describeWith('kafka', 'the example program of the README', () => {
  test('the documented consumer reads events, and stops on request', async () => {
    const { brokers } = await testKafka();
    const topic = newTopic();
    await createTopic(brokers, { topic, numPartitions: 1 });
    const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const event = createSyncEvent({ orgId: 'org-1', connector: 'files_2', now: Date.now() });
    await producer.send({ topic, messages: [toKafkaMessage(event), toKafkaMessage(event)] });
    await producer.disconnect();

    // The script imports the built package by its name.
    const program = /```js\n(.*?)```/s.exec(readFileSync(join(packageDir, 'README.md'), 'utf8'))?.[1] ?? '';
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: packageDir,
      env: { ...process.env, KAFKA_BROKERS: brokers.join(','), GROUP_ID: topic, TOPIC: topic },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      expect(line).toBe(`SyncFiles2Event of org-1: index files_2 (${event.eventId})`);
      child.kill('SIGTERM');
      await expect(once(child, 'exit')).resolves.toEqual([0, null]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
