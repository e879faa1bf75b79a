import { createConnection } from 'node:net';
import { describeWith, testKafka, testRedis } from '../src/index.js';

const accepts = (address: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(address.includes('//') ? address : `tcp://${address}`);
    const socket = createConnection(Number(port), hostname, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

describeWith('kafka', 'the broker of the run', () => {
  test('is one for all who ask, and takes connections', async () => {
    const [one, two] = await Promise.all([testKafka(), testKafka()]);
    expect(one).toEqual(two);
    await expect(accepts(one.brokers[0] ?? '')).resolves.toBe(true);
  });
});

describeWith('redis', 'the Redis of the run', () => {
  test('is one for all who ask, and takes connections', async () => {
    const [one, two] = await Promise.all([testRedis(), testRedis()]);
    expect(one).toEqual(two);
    await expect(accepts(one.url)).resolves.toBe(true);
  });
});
