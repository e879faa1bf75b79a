import type { Answer } from '@platform/testing';
import { type IdentityUnderTest, type Member, startIdentity } from '../identity.js';

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

const adminsLeft = async (orgId: string): Promise<string[]> => {
  const { rows } = await identity.db.query<{ id: string }>(
    `select id from users where org_id = $1 and role = 'admin' and removed_at is null`,
    [orgId],
  );
  return rows.map(({ id }) => id);
};

test('the only administrator is neither removed nor demoted', async () => {
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: first });
  for (const act of [remove, demote]) {
    const answer = await act(first, body.user.id as string);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_ADMIN']);
  }
  expect(await adminsLeft(identity.orgId)).toHaveLength(1);
});

const combinations: [what: string, one: Act, two: Act, isCrossed: boolean][] = [
  ['remove one another', remove, remove, true],
  ['demote one another', demote, demote, true],
  ['remove and demote one another', remove, demote, true],
  ['leave', remove, remove, false],
  ['step down', demote, demote, false],
  ['leave and step down', remove, demote, false],
];

test.each(combinations)('two administrators who %s at once leave one', async (what, one, two, isCrossed) => {
  const { orgId, session } = await identity.createOrganisation(`${what.replaceAll(' ', '-')}@example.org`);
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
  let a: Pick<Member, 'id' | 'session'> = { id: body.user.id as string, session };
  for (let round = 0; round < 12; round += 1) {
    const b = await identity.createMember(a.session, 'admin');
    const [ofOne, ofTwo] = isCrossed ? [b.id, a.id] : [a.id, b.id];
    const acts = [one(a.session, ofOne), two(b.session, ofTwo), one(a.session, ofOne), two(b.session, ofTwo)];
    const answers = await Promise.all(acts);
    // The loser hears that it was the last one, or that it is no administrator, or no member, any more.
    for (const { status } of answers) expect([200, 401, 403, 404, 409]).toContain(status);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    const left = await adminsLeft(orgId);
    expect(left).toHaveLength(1);
    if (left[0] === b.id) a = b;
  }
});
