import type { Answer } from '@platform/testing';
import { type Member, startIdentity } from '../identity.js';

// No mail service listens here: invitations are stored and never accepted.
const identity = await startIdentity({ environment: { MAIL_URL: 'http://127.0.0.1:1' } });
const first = await identity.login();
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

test('the only administrator can be neither removed nor demoted', async () => {
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: first });
  for (const act of [remove, demote]) {
    const answer = await act(first, body.user.id as string);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'LAST_ADMIN']);
  }
  expect(await adminsLeft(identity.orgId)).toHaveLength(1);
});

const invite = (token: string, email: string) =>
  identity.call('POST', '/api/v1/users', { token, body: { email, fullName: 'Invited', role: 'admin' } });

test('an invited administrator who has not accepted does not count as another one', async () => {
  const { orgId, session } = await identity.createOrganisation('alone@example.org');
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
  const invited = await invite(session, 'invited-admin@example.org');
  expect(invited.status).toBe(201);
  for (const act of [remove, demote]) {
    const answer = await act(session, body.user.id as string);
    expect([answer.status, answer.body.error?.code]).toEqual([409, 'LAST_ADMIN']);
  }
  expect(await adminsLeft(orgId)).toHaveLength(2);
  // The invitee can be removed, because an administrator who can log in remains.
  for (const act of [demote, remove])
    expect((await act(session, invited.body.user.id as string)).status).toBe(200);
  expect(await adminsLeft(orgId)).toHaveLength(1);
});

test('two administrators who demote each other concurrently leave one who can log in', async () => {
  const { orgId, session } = await identity.createOrganisation('pair@example.org');
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
  await invite(session, 'never-accepts@example.org');
  let a: Pick<Member, 'id' | 'session'> = { id: body.user.id as string, session };
  for (let round = 0; round < 4; round += 1) {
    const b = await identity.createMember(a.session, 'admin');
    const answers = await Promise.all([demote(a.session, b.id), demote(b.session, a.id)]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { rows } = await identity.db.query<{ id: string }>(
      `select id from users
       where org_id = $1 and role = 'admin' and removed_at is null and password_hash is not null`,
      [orgId],
    );
    expect(rows).toHaveLength(1);
    if (rows[0]?.id === b.id) a = b;
  }
});

test('a demoted administrator cannot regain the role with requests in flight', async () => {
  const { session } = await identity.createOrganisation('stays-demoted@example.org');
  for (let round = 0; round < 4; round += 1) {
    const other = await identity.createMember(session, 'admin');
    const promote = () =>
      identity.call('PATCH', `/api/v1/users/${other.id}`, { token: other.session, body: { role: 'admin' } });
    const [demoted] = await Promise.all([demote(session, other.id), ...Array.from({ length: 8 }, promote)]);
    expect(demoted.status).toBe(200);
    const { rows } = await identity.db.query('select role from users where id = $1', [other.id]);
    expect(rows).toEqual([{ role: 'member' }]);
  }
});

const combinations: [what: string, one: Act, two: Act, isCrossed: boolean][] = [
  ['remove one another', remove, remove, true],
  ['demote one another', demote, demote, true],
  ['remove and demote one another', remove, demote, true],
  ['leave', remove, remove, false],
  ['step down', demote, demote, false],
  ['leave and step down', remove, demote, false],
];

test.each(combinations)(
  'two administrators who %s concurrently leave one',
  async (what, one, two, isCrossed) => {
    const { orgId, session } = await identity.createOrganisation(`${what.replaceAll(' ', '-')}@example.org`);
    const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
    let a: Pick<Member, 'id' | 'session'> = { id: body.user.id as string, session };
    for (let round = 0; round < 4; round += 1) {
      const b = await identity.createMember(a.session, 'admin');
      const [ofOne, ofTwo] = isCrossed ? [b.id, a.id] : [a.id, b.id];
      const acts = [
        one(a.session, ofOne),
        two(b.session, ofTwo),
        one(a.session, ofOne),
        two(b.session, ofTwo),
      ];
      const answers = await Promise.all(acts);
      // The other request fails because its caller is the last administrator, or no longer an administrator or a member.
      for (const { status } of answers) expect([200, 401, 403, 404, 409]).toContain(status);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      const left = await adminsLeft(orgId);
      expect(left).toHaveLength(1);
      if (left[0] === b.id) a = b;
    }
  },
);
