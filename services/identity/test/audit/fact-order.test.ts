import { randomUUID } from 'node:crypto';
import { createLogger, createPool, inTransaction } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { insertFacts, type NewFact } from '../../src/audit/facts.sql.js';
import { startIdentity } from '../identity.js';

const identity = await startIdentity();
const session = await identity.login();
const { orgId } = identity;
afterAll(() => identity.close());

const toFact = (number: number): NewFact => ({
  id: randomUUID(),
  orgId,
  type: 'mail.sent',
  at: new Date().toISOString(),
  data: {
    mailId: randomUUID(),
    emailTemplateType: 'invitation',
    recipients: number,
    attempts: 1,
    problem: null,
  },
});

let cursor: string | undefined;

/** Reads on until there are so many facts. They are in the feed once they have got a position. */
async function readNext(count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  const read = async () => {
    const query = new URLSearchParams({ limit: '100', ...(cursor !== undefined && { after: cursor }) });
    const { body } = await identity.call('GET', `/api/v1/events?${query.toString()}`, { token: session });
    ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
    cursor = (body.nextCursor as string | null) ?? cursor;
    return ids.length >= count;
  };
  await waitFor(read, { what: 'the facts' });
  return ids;
}

// The sign-in of the session is a fact, too.
beforeAll(async () => void (await readNext(1)));

it.each([
  ['a hash join', { enable_nestloop: 'off', enable_mergejoin: 'off' }],
  ['nested loops', { enable_hashjoin: 'off', enable_mergejoin: 'off' }],
  ['a merge join', { enable_hashjoin: 'off', enable_nestloop: 'off' }],
])(
  'EVT-33 the feed has the facts of a batch in their order, whatever its size, under %s',
  async (_plan, settings) => {
    const pool = createPool({
      connectionString: identity.databaseUrl,
      applicationName: 'test',
      maxConnections: 1,
      settings,
      timeoutMs: 10_000,
      log: createLogger('test', 'silent'),
    });
    try {
      for (const size of [1, 2, 7, 50, 100, 200]) {
        const facts = Array.from({ length: size }, (_, number) => toFact(number + 1));
        await inTransaction(pool, (tx) => insertFacts(tx, facts));
        expect(await readNext(size)).toEqual(facts.map(({ id }) => id));
      }
    } finally {
      await pool.end();
    }
  },
);
