import { loadCrawlConfig } from './config.js';

const env = {
  DATABASE_URL: 'postgresql://crawl@db/crawl',
  IDENTITY_URL: 'http://identity:3001',
  SERVICE_CLIENT_SECRET: 's'.repeat(32),
};

test('a connector has one endpoint', () => {
  const load = (TASKS: string) => loadCrawlConfig({ ...env, TASKS }).TASKS;
  expect([...load('wiki_1=http://a, *=http://b')]).toEqual([['wiki_1', 'http://a'], ['*', 'http://b']]);
  expect(() => load('wiki_1=http://a,wiki_1=http://b')).toThrow(/^ {2}- TASKS must be/m);
}); // prettier-ignore
