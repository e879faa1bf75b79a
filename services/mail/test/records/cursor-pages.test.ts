import { startMail } from '../mail.js';

const ADDRESS = 'ada@example.com';

// The ids of these mails are years old.
const mail = await startMail({ environment: { RECORDS_KEPT_DAYS: '0' } });
afterAll(() => mail.close());

/** Inserts mails to Ada whose ids have this prefix, one for each of the states. */
async function insertMails(prefix: string, states: readonly string[]): Promise<void> {
  // prettier-ignore
  await mail.db.query(
    `with mails as (
       insert into mails (id, org_id, state, lane, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
       select overlay(gen_random_uuid()::text placing $2 from 1 for 15)::uuid, $1::uuid, state::mail_state, 2, false, now(), now(), 'x',
         'noreply@example.com', array[$4], '{}', 'loginWithOTP', now(), now()
       from unnest($3::text[]) as state
       returning id, org_id
     ) select from mails`,
    [mail.orgId, prefix, states, ADDRESS],
  );
}

const list = async (query: string) => {
  const { status, body } = await mail.call('GET', `/api/v1/mail/records?${query}`, { token: mail.session });
  expect([query, status]).toEqual([query, 200]);
  return body as { data: { id: string; state: string }[]; nextCursor: string | null };
};

async function readAll(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await list(`limit=3&${query}${cursor && `&cursor=${cursor.toUpperCase()}`}`);
    found.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return found;
}

const states = ['sent', 'failed', 'unknown', 'sent', 'sent', 'failed', 'sent', 'failed'];

test.each(['', 'state=any', 'state=failed', `recipient=${ADDRESS}`, `state=any&recipient=${ADDRESS}`])(
  'API-13: the mails of "%s" are read from cursor to cursor, each once',
  async (query) => {
    await insertMails('01900000-0000-7', states);
    const { data, nextCursor } = await list(`limit=100&${query}`);
    expect(await readAll(query)).toEqual(data.map(({ id }) => id));
    expect([data.length > 0, nextCursor]).toEqual([true, null]);
  },
);

test('the cursor leads past what page numbers reach, and past a long part of the mails to somebody', async () => {
  await insertMails(
    '01800000-0000-7',
    Array.from({ length: 10_000 }, () => 'sent'),
  );
  await insertMails('01700000-0000-7', ['failed', 'failed']);
  const oldest = (await readAll(`state=failed&recipient=${ADDRESS}`)).slice(-2);
  expect(oldest.every((id) => id.startsWith('01700000'))).toBe(true);
  const last = await list('state=sent&since=2020-01-01T00:00:00Z&limit=100&page=10');
  expect(last.nextCursor).toBe(last.data.at(-1)?.id);
  const next = await list(`state=sent&since=2020-01-01T00:00:00Z&limit=100&cursor=${last.nextCursor ?? ''}`);
  expect(next.data).toHaveLength(100);
});
