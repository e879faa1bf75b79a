import { randomUUID } from 'node:crypto';
import { insertFactsOf } from '@platform/events';
import { type CallOptions, callUrl, waitFor } from '@platform/testing';
import pg from 'pg';
import { ALLOW_RECEIVERS } from '../../destinations/receiver.js';
import { admin, createIdentityDatabase } from '../../identity.js';
import { environmentFor, startServer } from '../../process/process.js';
import { closeReceivers, createSubscriber, startEventReceiver, toEvent } from './agent.js';
import { WITH_SERVICES } from './reported-facts.js';

afterAll(closeReceivers);

test('EVT-19 a replica that is killed loses no event: the next one sends what was committed, in order and under the same ids', async () => {
  const database = await createIdentityDatabase();
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  const receiver = await startEventReceiver();
  const environment = { ...environmentFor(database.url), ...ALLOW_RECEIVERS, ...WITH_SERVICES };
  let server = await startServer(environment);
  const sent: string[] = [];
  receiver.answerWith((request, response) => {
    sent.push(toEvent(request).eventId);
    setTimeout(() => response.writeHead(204).end(), 20);
    return undefined;
  });
  const commit = async (count: number) => {
    const ids = Array.from({ length: count }, () => randomUUID());
    await db.query(
      insertFactsOf(`(
        select id, (select id from organisations) as org_id, 'crawl.run.completed' as type, now() as at,
          '{"connector":"wiki_1","instance":"default","counters":{}}'::json as data
        from unnest($1::uuid[]) with ordinality as given (id, number)) as fact`),
      [ids],
    );
    // Positions are given in the order of the ids of one insert.
    return ids.toSorted();
  };
  try {
    const call = (method: string, path: string, options?: CallOptions) => callUrl(server.url + path, method, options);
    const { body } = await call('POST', '/api/v1/auth/login', { body: admin });
    const created = await call('POST', '/api/v1/personal-access-tokens', {
      token: body.accessToken, body: { name: 'agent', scopes: ['crawl:read'] },
    });
    await createSubscriber({ call }, created.body.token.accessToken).follow('crawl.run.completed', receiver.url);
    const ids = await commit(60);
    await waitFor(() => sent.length >= 10, { what: 'some events' });
    server.child.kill('SIGKILL');
    await server.exit;
    const unsent = await commit(5);
    server = await startServer(environment);
    const all = [...ids, ...unsent];
    await waitFor(() => new Set(sent).size === all.length, { what: 'the rest', patienceMs: 60_000 });
    expect([...new Set(sent)]).toEqual(all);
    expect(sent.length - all.length).toBeLessThanOrEqual(2);
  } finally {
    server.child.kill('SIGKILL');
    await server.exit;
    await db.end();
    await database.drop();
  }
}); // oxfmt-ignore
