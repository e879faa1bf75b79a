import { createLogger } from '@platform/service-kit';
import { type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { createOutcomeWriter } from '../../src/features/journal/outcome-writer.js';
import { createMailDatabase } from '../mail.js';

const REQUEST_BYTES = 262_144;
const MAILS = 200;

let database: TestDatabase;
let db: pg.Pool;
beforeAll(async () => {
  database = await createMailDatabase();
  db = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

test('outcomes with large stored requests are written in small batches, and all of them are stored', async () => {
  await db.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), $1, 'pending', $1, '', 'a@b.example', '{}', '{}', 'appuserInvite', now(), now() from generate_series(1, ${MAILS})`,
    [uuidv7()],
  );
  const { rows } = await db.query<{ id: string }>('select id from mails');
  const statementBytes: number[] = [];
  const pool = {
    query: (statement: { readonly values: readonly unknown[] }) => {
      statementBytes.push(JSON.stringify(statement.values).length);
      return db.query(statement as pg.QueryConfig);
    },
  } as unknown as pg.Pool;
  const writer = createOutcomeWriter({ pool, clock: Date.now, log: createLogger('mail', 'silent') });
  for (const { id } of rows)
    void writer.add({ id, state: 'failed', refused: [], encryptedRequest: 'x'.repeat(REQUEST_BYTES) });
  await waitFor(() => writer.backlog === 0, { what: 'the outcomes' });
  await writer.stop();
  const stored = await db.query(
    `select count(*)::int as count from mails where state = 'failed' and length(encrypted_request) = ${REQUEST_BYTES}`,
  );
  expect(stored.rows).toEqual([{ count: MAILS }]);
  expect(Math.max(...statementBytes)).toBeLessThan(4 * 1_048_576);
});
