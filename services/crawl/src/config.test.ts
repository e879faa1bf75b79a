import { loadCrawlConfig } from './config.js';

const env = {
  DATABASE_URL: 'postgresql://crawl@db/crawl',
  IDENTITY_URL: 'http://identity:3001',
  SERVICE_CLIENT_SECRET: 's'.repeat(32),
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

const secret = (byte: number, length = 32) => `whsec_${Buffer.alloc(length, byte).toString('base64')}`;
const load = (TASKS: string, TASK_SECRETS: string) => loadCrawlConfig({ ...env, TASKS, TASK_SECRETS });

test('accepts one endpoint for each connector', () => {
  const secrets = `wiki_1=${secret(1)},*=${secret(2)}`;
  expect([...load('wiki_1=http://a, *=http://b', secrets).TASKS]).toEqual([
    ['wiki_1', 'http://a'],
    ['*', 'http://b'],
  ]);
  expect(() => load('wiki_1=http://a,wiki_1=http://b', secrets)).toThrow(/^ {2}- TASKS must be/m);
  expect(() => load('wiki_9=http://a', secrets)).toThrow(/^ {2}- TASKS must be/m);
});

test('accepts one secret for an endpoint, or two during a rotation', () => {
  const { TASK_SECRETS: secrets } = load('*=http://b', `*=${secret(1)},*=${secret(2, 24)}`);
  expect([...secrets]).toEqual([['*', [Buffer.alloc(32, 1), Buffer.alloc(24, 2)]]]);
});

test('rejects an endpoint without a secret, and a secret without an endpoint', () => {
  expect(() => load('wiki_1=http://a,*=http://b', `*=${secret(1)}`)).toThrow(
    'TASK_SECRETS has no entry for wiki_1, which TASKS names',
  );
  expect(() => load('*=http://b', `*=${secret(1)},wiki_1=${secret(1)}`)).toThrow(
    'TASK_SECRETS has an entry for wiki_1, which TASKS does not name',
  );
});

test.each(['secret', 'whsec_', secret(1, 23), secret(1, 65), `${secret(1)}!`, 'whsec_AAAA=AAA'.repeat(4)])(
  'rejects the secret %s without repeating it in the message',
  (value) => {
    expect(() => load('*=http://b', `*=${value}`)).toThrow(/^ {2}- TASK_SECRETS must be(?!.*AQEBAQ)/m);
  },
);
