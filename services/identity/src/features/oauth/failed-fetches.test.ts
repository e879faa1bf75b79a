import { rememberFailures } from './failed-fetches.js';

test('a host that is spared is still asked for a document that it had', async () => {
  const known = 'https://agents.example/known';
  const fetched: string[] = [];
  const fetchDocument = rememberFailures(
    (input) => {
      fetched.push(input as string);
      return Promise.resolve(new Response('', { status: input === known ? 200 : 404 }));
    },
    () => 0,
  );
  await fetchDocument(known);
  for (let index = 0; index < 20; index += 1) await fetchDocument(`https://agents.example/${index}`);
  await expect(fetchDocument('https://agents.example/new')).rejects.toThrow('agents.example did not answer');
  expect((await fetchDocument(known)).status).toBe(200);
  expect(fetched).toHaveLength(22);
});
