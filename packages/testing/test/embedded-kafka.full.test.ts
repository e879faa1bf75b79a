import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../src/index.js';
import { startEmbeddedKafka } from '@platform/embedded';

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

describeWith('own-kafka', 'embedded Kafka', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(await realpath(tmpdir()), 'embedded-kafka-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  test('restarts on the same port after a stop and a kill, and leaves no files behind', async () => {
    const dataDir = join(root, 'data');
    const kafka = await startEmbeddedKafka({ dataDir, isTemporary: true });
    for (const end of ['stop', 'kill'] as const) {
      await kafka[end]();
      await expect(accepts(kafka.port)).resolves.toBe(false);
      await kafka.start();
      await expect(accepts(kafka.port)).resolves.toBe(true);
    }
    await kafka.close();
    await expect(stat(dataDir)).rejects.toThrow(/ENOENT/);
  });

  test('explains a taken port with Kafka’s own message', async () => {
    const kafka = await startEmbeddedKafka({ dataDir: join(root, 'one') });
    const second = startEmbeddedKafka({ dataDir: join(root, 'two'), port: kafka.port });
    await expect(second).rejects.toThrow(/Kafka does not start: .*(?:in use|bind)/i);
    await kafka.close();
  });
});
