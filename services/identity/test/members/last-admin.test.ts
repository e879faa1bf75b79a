import type { Answer } from '@platform/testing';
import { startIdentity } from '../identity.js';

/* What administrators do at the same time is explored in `test/interleavings`. */

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
