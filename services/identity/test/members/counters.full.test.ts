import { createLogger, DAY_MS } from '@platform/service-kit';
import { createRandom } from '@platform/testing';
import { createExpiryJob } from '../../src/jobs/expiry.job.js';
import { type Member, startIdentity } from '../identity.js';

const identity = await startIdentity();
afterAll(() => identity.close());

/** Chooses at random, but the same in every run. */
function createChoice(seed: number) {
  const random = createRandom(seed);
  return <T>(choices: readonly T[]): T | undefined => choices[Math.floor(random() * choices.length)];
}

async function expectCountersRight(): Promise<void> {
  const { rows } = await identity.db.query(`
    select c.org_id, active_tokens, members, audit_entries,
      (select count(*) from personal_access_tokens t where t.org_id = c.org_id and status = 'active') as real_tokens,
      (select count(*) from users u where u.org_id = c.org_id and removed_at is null) as real_members,
      (select count(*) from audit_entries a where a.org_id = c.org_id) as real_entries
    from organisation_counters c`);
  expect(rows).toHaveLength(2);
  for (const row of rows)
    expect([row.active_tokens, row.members, row.audit_entries]).toEqual([
      row.real_tokens,
      row.real_members,
      row.real_entries,
    ]);
}

test('the counters equal the counted rows after any sequence of operations, four at a time', async () => {
  const pick = createChoice(20_261_121);
  const session = await identity.login();
  const other = await identity.createOrganisation('other@example.com');
  const sessions = [session, other.session];
  const members: Member[] = [];
  const tokens: { id: string; session: string }[] = [];
  const operations = [
    async () => members.push(await identity.createMember(pick(sessions) ?? session)),
    async () => {
      const owner = pick([...sessions, ...members.map((member) => member.session)]) ?? session;
      const { status, body } = await identity.call('POST', '/api/v1/personal-access-tokens', { token: owner, body: { name: 'x', expiryDays: pick([30, 90, 'never']) } });
      if (status === 201) tokens.push({ id: body.token.id as string, session: owner });
    },
    async () => {
      const token = pick(tokens);
      if (token) await identity.call('DELETE', `/api/v1/personal-access-tokens/${token.id}`, { token: token.session });
    },
    () => identity.call('DELETE', `/api/v1/users/${pick(members)?.id ?? ''}`, { token: pick(sessions) ?? session }),
    () => identity.call('PATCH', `/api/v1/users/${pick(members)?.id ?? ''}`, { token: pick(sessions) ?? session, body: { role: pick(['admin', 'member']) } }),
  ]; // oxfmt-ignore
  for (let round = 0; round < 20; round += 1) {
    const chosen = Array.from({ length: 4 }, () => pick([...operations, ...operations.slice(0, 2)]));
    await Promise.all(chosen.map(async (operation) => operation?.()));
    if (round % 10 === 0) await expectCountersRight();
  }
  const log = createLogger('test', 'silent');
  const sweepAt = (days: number) =>
    createExpiryJob({
      pool: identity.db,
      clock: () => Date.now() + days * DAY_MS,
      log,
      toolCallDays: 90,
      auditDays: 730,
    }).sweep();
  await Promise.all([sweepAt(31), sweepAt(31)]);
  await expectCountersRight();
  const { rows } = await identity.db.query(
    `select status, count(*)::int from personal_access_tokens group by 1 order by 1`,
  );
  expect(rows.map(({ status }) => status as string)).toEqual(['active', 'revoked', 'expired']);
  expect(tokens.length).toBeGreaterThan(10);
});
