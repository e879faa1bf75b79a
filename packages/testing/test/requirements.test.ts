import {
  describeLeftOut,
  describeWith,
  findMissing,
  startOwnKafka,
  startTestPostgres,
  testRedis,
} from '../src/index.js';

const environment = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
});

test('a test that does not declare a requirement fails on every machine', async () => {
  await expect(testRedis()).rejects.toThrow("put them into describeWith('redis', …)");
  await expect(startOwnKafka()).rejects.toThrow("put them into describeWith('own-kafka', …)");
});

test('a file of the quick run can declare no requirement', () => {
  expect(() => describeWith('redis', 'anything', () => undefined)).toThrow('*.full.test.ts');
});

test('a given server that cannot be reached is an error, and no other one is used instead', async () => {
  process.env['TEST_DATABASE_URL'] = 'postgresql://nobody@127.0.0.1:1/none';
  await expect(startTestPostgres()).rejects.toThrow(/TEST_DATABASE_URL is set, but .*ECONNREFUSED/);
});

test('a machine with nothing on its PATH reports each missing requirement with a reason and a remedy', async () => {
  Object.assign(process.env, {
    PATH: '',
    XDG_CACHE_HOME: '/nowhere',
    PIP_INDEX_URL: 'http://127.0.0.1:1/',
    KAFKA_BROKERS: '',
    REDIS_URL: 'redis://given:1',
  });
  const missing = await findMissing();
  expect(missing['own-kafka']).toBe('there is no java and no mvn on the PATH: install Java 17 and Maven');
  expect(missing['own-redis']).toMatch(
    /^there is no redis-server or valkey-server 6\.2 or newer on the PATH: install/,
  );
  expect(missing).toMatchObject({ nginx: expect.any(String), helm: expect.any(String) });
  expect(missing).not.toHaveProperty('redis');
});

test('the last lines of a run count the skipped groups by their reason, and say how to include them', () => {
  const outcome = (status: string, title: string) => ({ status, title });
  const missing = { kafka: 'there is no java on the PATH: install Java', nginx: 'there is no nginx' };
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
  expect(describeLeftOut(outcomes.slice(0, 1), missing)).toBe('');
});
