import { createConnection } from 'node:net';
import { describeWith, startLazyServices, testKafka, testRedis } from '../src/index.js';

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
  }, 180_000);
});

describeWith('redis', 'the Redis of the run', () => {
  test('is one for all who ask, and takes connections', async () => {
    const [one, two] = await Promise.all([testRedis(), testRedis()]);
    expect(one).toEqual(two);
    await expect(accepts(one.url)).resolves.toBe(true);
  }, 180_000);
});

test('a machine without the programs is told once, in a line for each group of tests that is skipped', async () => {
  const { PATH, KAFKA_BROKERS, REDIS_URL } = process.env;
  const lines: string[] = [];
  Object.assign(process.env, { PATH: '', KAFKA_BROKERS: '', REDIS_URL: 'redis://given:1' });
  try {
    const services = await startLazyServices((line) => lines.push(line));
    await services.stop();
    expect(JSON.parse(services.variables['TEST_MISSING_SERVICES'] ?? '')).toMatchObject({
      'own-kafka': 'no java and no mvn on the PATH',
      'own-redis': 'no redis-server on the PATH',
    });
    expect(lines).toContain('tests: those with own-redis are SKIPPED: no redis-server on the PATH');
    expect(lines.join()).not.toContain('with redis are');
  } finally {
    for (const [name, value] of Object.entries({ PATH, KAFKA_BROKERS, REDIS_URL }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
});
