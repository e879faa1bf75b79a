import { describeLeftOut, describeWith, findMissing, startOwnKafka, testRedis } from '../src/index.js';

const environment = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
});

describe('a test that does not declare a requirement', () => {
  test('fails on every machine, not only on those that lack it', async () => {
    await expect(testRedis()).rejects.toThrow("put them into describeWith('redis', …)");
    await expect(startOwnKafka()).rejects.toThrow("put them into describeWith('own-kafka', …)");
  });
});

describe('a file of the quick run', () => {
  test('can declare no requirement', () => {
    expect(() => describeWith('redis', 'anything', () => undefined)).toThrow('*.full.test.ts');
  });
});

describe('a machine with nothing on its PATH', () => {
  test('reports each missing requirement with a reason and a remedy', async () => {
    Object.assign(process.env, {
      PATH: '',
      XDG_CACHE_HOME: '/nowhere',
      PIP_INDEX_URL: 'http://127.0.0.1:1/',
      KAFKA_BROKERS: '',
      REDIS_URL: 'redis://given:1',
    });
    const missing = await findMissing();
    expect(missing['own-kafka']).toBe('there is no java and no mvn on the PATH: install Java 17 and Maven');
    expect(missing['own-redis']).toMatch(/^there is no redis-server 6\.2 or newer on the PATH, .*; install/);
    expect(missing).toMatchObject({ nginx: expect.any(String), helm: expect.any(String) });
    expect(missing).not.toHaveProperty('redis');
  });
});

describe('the last lines of a run', () => {
  const outcome = (status: string, title: string) => ({ status, title });
  const missing = { kafka: 'there is no java on the PATH: install Java', nginx: 'there is no nginx' };

  test('count the skipped groups by their reason, and say how to include them', () => {
    const outcomes = [
      outcome('passed', 'relay'),
      outcome('pending', 'relay [needs kafka]'),
      outcome('pending', 'outbox [needs kafka]'),
      outcome('pending', 'traces [needs nginx]'),
    ];
    expect(describeLeftOut(outcomes, missing, ['test/compose: no Docker engine.'])).toBe(`
Left out on this machine:
  2 groups of tests that need kafka: there is no java on the PATH: install Java.
  1 group of tests that needs nginx: there is no nginx.
  test/compose: no Docker engine.
`);
  });

  test('are empty when no test was skipped', () => {
    expect(describeLeftOut([outcome('passed', 'relay')], missing)).toBe('');
  });
});
