import { type Answer, type IdentityUnderTest, type Member, startIdentity } from '../identity.js';

let identity: IdentityUnderTest;
let first: string;

beforeAll(async () => {
  identity = await startIdentity();
  first = await identity.login();
});
afterAll(() => identity.close());

type Act = (token: string, id: string) => Promise<Answer>;
const remove: Act = (token, id) => identity.call('DELETE', `/api/v1/users/${id}`, { token });
const demote: Act = (token, id) =>
  identity.call('PATCH', `/api/v1/users/${id}`, { token, body: { role: 'member' } });

const adminsLeft = async (orgId: string): Promise<number> => {
  const { rows } = await identity.db.query<{ count: number }>(
    `select count(*)::int from users where org_id = $1 and role = 'admin' and removed_at is null`,
    [orgId],
  );
  return rows[0]?.count ?? 0;
};

test('the only administrator is neither removed nor demoted', async () => {
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: first });
  for (const act of [remove, demote]) {
    const answer = await act(first, body.user.id as string);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_ADMIN']);
  }
  expect(await adminsLeft(identity.orgId)).toBe(1);
});

let organisations = 0;
async function organisationOfTwo(): Promise<{
  orgId: string;
  admins: [Pick<Member, 'id' | 'session'>, Member];
}> {
  const { orgId, session } = await identity.createOrganisation(`boss-${++organisations}@example.org`);
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
  return {
    orgId,
    admins: [{ id: body.user.id as string, session }, await identity.createMember(session, 'admin')],
  };
}

const combinations: [what: string, one: Act, two: Act, isCrossed: boolean][] = [
  ['remove one another', remove, remove, true],
  ['demote one another', demote, demote, true],
  ['remove and demote one another', remove, demote, true],
  ['leave', remove, remove, false],
  ['step down', demote, demote, false],
  ['leave and step down', remove, demote, false],
];

test.each(combinations)('two administrators who %s at once leave one', async (_what, one, two, isCrossed) => {
  for (let round = 0; round < 6; round += 1) {
    const { orgId, admins } = await organisationOfTwo();
    const [a, b] = admins;
    const answers = await Promise.all([
      one(a.session, isCrossed ? b.id : a.id),
      two(b.session, isCrossed ? a.id : b.id),
      one(a.session, isCrossed ? b.id : a.id),
      two(b.session, isCrossed ? a.id : b.id),
    ]);
    // The loser hears that it was the last one, or that it is no administrator, or no member, any more.
    for (const { status } of answers) expect([200, 401, 403, 404, 409]).toContain(status);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(await adminsLeft(orgId)).toBe(1);
  }
});
