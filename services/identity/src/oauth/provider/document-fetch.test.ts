import { createTargetPolicy } from '@platform/service-kit';
import { createDocumentFetch } from './document-fetch.js';

const policy = createTargetPolicy({ allowed: [], denied: [], ports: [443] });

/** A fetch whose names resolve to the given addresses, one after the other. */
function createFetch(...answers: string[]) {
  const asked: string[] = [];
  const documents = createDocumentFetch({
    policy,
    resolve: async (host) => {
      asked.push(host);
      const address = answers[Math.min(asked.length, answers.length) - 1] ?? host;
      return [{ address, family: address.includes(':') ? 6 : 4 }];
    },
  });
  return { ...documents, asked };
}

test.each([
  ['a private address', 'https://agents.example/c', '10.0.0.1'],
  ['this machine', 'https://agents.example/c', '127.0.0.1'],
  ['the metadata service of a cloud', 'https://agents.example/c', '169.254.169.254'],
  ['a private address in IPv6', 'https://agents.example/c', 'fd00::1'],
  ['an address in the URL', 'https://127.0.0.1/c', '127.0.0.1'],
])('does not connect to %s', async (_what, url, address) => {
  const documents = createFetch(address);
  await expect(documents.fetch(url, { signal: AbortSignal.timeout(2_000) })).rejects.toThrow('no address');
  await documents.close();
});

test.each(['http://agents.example/c', 'https://agents.example:8443/c'])('does not fetch %s', async (url) => {
  const documents = createFetch('9.9.9.9');
  await expect(documents.fetch(url)).rejects.toThrow('port 443');
  await documents.close();
});

test('does not connect to a private address that a name resolves to only at the connection', async () => {
  const documents = createFetch('9.9.9.9', '127.0.0.1');
  const failure: unknown = await documents
    .fetch('https://agents.example/c', { signal: AbortSignal.timeout(2_000) })
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ cause: { message: expect.stringContaining('no address') } });
  expect(documents.asked).toHaveLength(2);
  await documents.close();
});
