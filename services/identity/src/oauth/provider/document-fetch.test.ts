import { createDocumentFetch } from './document-fetch.js';

const URL_OF_CLIENT = 'https://agents.example/c';

/** Fetches a document from a host that has the address. @returns the reason for which that fails. */
async function findFault(url: string, address: string): Promise<string> {
  const documents = createDocumentFetch(async () => [{ address, family: 4 }]);
  const fault: unknown = await documents.fetch(url).catch((error: unknown) => error);
  await documents.close();
  const { message, cause } = fault as Error & { readonly cause?: Error };
  return cause?.message ?? message;
}

test('does not connect to a private address, by a name or in the URL', async () => {
  expect(await findFault(URL_OF_CLIENT, '10.0.0.1')).toBe('agents.example');
  expect(await findFault('https://127.0.0.1/c', '9.9.9.9')).toBe('127.0.0.1');
});

test.each(['http://agents.example/c', 'https://agents.example:8443/c'])('does not fetch %s', async (url) => {
  expect(await findFault(url, '9.9.9.9')).toContain('port 443');
});
