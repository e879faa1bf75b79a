import { waitFor } from '@platform/testing';
import { getStatuses, linkIn, newPassword, startPlatform, subjects, tokenIn } from './platform.js';
import { password } from './users.js';

const DAY = 24 * 60 * 60_000;
const { invitation: invited, ready } = subjects;
const smtpPath = '/api/v1/configurationManager/smtpConfig';

const platform = await startPlatform();
afterAll(() => platform.close());

const accept = (token: string, fields: object = {}) =>
  platform.post('invitations/accept', { token, password, ...fields });
const linkInvalid = { error: { code: 'LINK_INVALID', message: expect.any(String) } };

async function invite(): Promise<{ id: string; email: string; token: string }> {
  const user = await platform.createUser({});
  return { ...user, token: tokenIn(await platform.mailTo(user.email, invited)) };
}

const getAudit = async (id: string): Promise<string[]> =>
  (
    await platform.identity.db.query<{ action: string }>(
      'select action from audit_entries where subject_id = $1 order by id',
      [id],
    )
  ).rows.map(({ action }) => action);

test('an invited member gets a link, accepts it, is logged in, and gets a mail that the account is ready', async () => {
  const { id, email, token } = await invite();
  const answer = await accept(token, { fullName: ' Ada Lovelace ' });
  expect(answer.status).toBe(200);
  const user = { id, orgId: platform.identity.orgId, email, fullName: 'Ada Lovelace', role: 'member' };
  expect(answer.body).toEqual({
    accessToken: expect.any(String),
    tokenType: 'Bearer',
    expiresIn: 86_400,
    expiresAt: expect.any(String),
    user,
  });
  const me = await platform.identity.call('GET', '/api/v1/users/me', { token: answer.body.accessToken });
  expect(me.body).toEqual({ user, groups: [] });
  expect((await platform.post('login', { email, password })).status).toBe(200);
  expect((await platform.mailTo(email, ready)).text).toContain('Hello Ada Lovelace,');
  expect(await getAudit(id)).toEqual(['user.invited', 'invitation.accepted']);
});

test('AUTH-68, AUTH-69: an invitation takes no password that is easily guessed', async () => {
  const { email, token } = await invite();
  for (const chosen of ['iloveyou', email, 'example!']) {
    const { status, body } = await accept(token, { password: chosen });
    expect([chosen, status, body.error?.details]).toMatchObject([chosen, 400, [{ field: 'password' }]]);
  }
  expect((await accept(token)).status).toBe(200);
});

test('withdrawing an invitation never removes a member who has joined, also when both happen at once', async () => {
  const { identity, session } = platform;
  const withdraw = (id: string, state = 'invited') =>
    identity.call('DELETE', `/api/v1/users/${id}?state=${state}`, { token: session });
  const joined = await invite();
  const invitee = await invite();
  expect((await accept(joined.token)).status).toBe(200);
  expect((await withdraw(joined.id, 'joined')).status).toBe(400);
  const refused = await withdraw(joined.id);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'INVITATION_ACCEPTED']);
  expect((await platform.post('login', { email: joined.email, password })).status).toBe(200);
  expect((await withdraw(invitee.id)).body).toEqual({ message: 'User removed' });
  expect((await accept(invitee.token)).body).toEqual(linkInvalid);
  for (const { id, token } of await Promise.all(Array.from({ length: 4 }, invite))) {
    const [accepted, withdrawn] = await Promise.all([accept(token), withdraw(id)]);
    expect([
      [200, 409],
      [400, 200],
    ]).toContainEqual([accepted.status, withdrawn.status]);
  }
});

test('the link leads to an existing page, with the token where no server sees it', async () => {
  const { email } = await platform.createUser({});
  const link = linkIn(await platform.mailTo(email, invited));
  expect(link.origin + link.pathname).toBe('http://127.0.0.1:8080/sign-in/invite');
  expect([link.search, link.hash]).toEqual(['', expect.stringMatching(/^#token=[\w-]{43}$/)]);
  const page = await platform.identity.call('GET', link.pathname);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('action="/sign-in/invite"')]);
});

test('an invitee who has not accepted cannot log in with a password or a code, or reset a password', async () => {
  const { email } = await platform.createUser({});
  expect((await platform.post('login', { email, password })).status).toBe(401);
  expect((await platform.post('otp', { email })).status).toBe(202);
  expect((await platform.post('password/forgot', { email })).status).toBe(202);
  // A reset request before the first password mails the invitation again and nothing else.
  await platform.mailTo(email, invited, 2);
  await platform.drained();
  expect(platform.mailsTo(email)).toHaveLength(2);
});

test('only one of ten concurrent requests accepts an invitation, and the link is then rejected', async () => {
  const { email, token } = await invite();
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token)));
  expect(getStatuses(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
  expect((await accept(token, { password: newPassword })).status).not.toBe(200);
  expect((await platform.post('login', { email, password })).status).toBe(200);
});

test('a forgotten password mails the same invitation again until it lapses, and states how long it is still valid', async () => {
  const { email, token } = await invite();
  const first = await platform.mailTo(email, invited);
  expect(first.text).toMatch(/Administrator has invited you to join .* expires in 7 days\./s);
  // Not by the clock: the administrator's session would end, too.
  await platform.identity.db.query(`update users set created_at = created_at - interval '4 days' where email = $1`, [email]);
  await platform.identity.db.query(
    `update one_time_secrets s set created_at = s.created_at - interval '4 days', expires_at = expires_at - interval '4 days'
     from users u where u.id = s.user_id and u.email = $1`,
    [email],
  );
  await platform.post('password/forgot', { email });
  const again = await platform.mailTo(email, invited, 2);
  expect(tokenIn(again)).toBe(token);
  expect(again.text).toContain('expires in 2 days.');
  expect((await accept(token)).status).toBe(200);
}); // oxfmt-ignore

test('a removed member cannot accept an invitation', async () => {
  const { id, token } = await invite();
  await platform.identity.call('DELETE', `/api/v1/users/${id}`, { token: platform.session });
  const answer = await accept(token);
  expect([answer.status, answer.body]).toEqual([400, linkInvalid]);
});

test('rejects an invitation link used as a reset link, and the reverse', async () => {
  const { token } = await invite();
  expect((await platform.post('password/reset', { token, password })).body).toEqual(linkInvalid);
  expect((await accept(token)).status).toBe(200);
});

test('describes the account of a link without consuming it', async () => {
  const { email, token } = await invite();
  const describe = (given: string) => platform.post('links', { token: given });
  for (let count = 0; count < 2; count += 1) {
    const { status, body, headers } = await describe(token);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body.link).toEqual({
      purpose: 'invitation',
      email,
      fullName: expect.any(String),
      organisation: 'Example',
      expiresAt: expect.any(String),
    });
  }
  expect((await accept(token)).status).toBe(200);
  expect((await describe(token)).body).toEqual(linkInvalid);
  expect((await describe('x')).body).toEqual(linkInvalid);
});

const repeat = (id: string, token = platform.session) =>
  platform.identity.call('POST', `/api/v1/users/${id}/invitation`, { token, body: {} });

test('an administrator has an invitation mailed again with the same link, until it is accepted', async () => {
  const user = await platform.createUser({});
  const first = await platform.mailTo(user.email, invited);
  const { status, body } = await repeat(user.id);
  expect([status, body]).toEqual([
    200,
    { delivery: 'mail', inviteLink: null, expiresAt: expect.any(String) },
  ]);
  expect(linkIn(await platform.mailTo(user.email, invited, 2)).href).toBe(linkIn(first).href);
  expect((await repeat(user.id, (await platform.identity.createOrganisation('other@example.org')).session)).status).toBe(404);
  expect((await accept(tokenIn(first))).status).toBe(200);
  const accepted = await repeat(user.id);
  expect([accepted.status, accepted.body.error.code]).toEqual([409, 'INVITATION_ACCEPTED']);
}); // oxfmt-ignore

test('an administrator gets the link to hand over while the organisation has no SMTP server', async () => {
  const { body: saved } = await platform.identity.call('GET', smtpPath, { token: platform.session });
  const user = await platform.createUser({});
  const mailed = await platform.mailTo(user.email, invited);
  await platform.identity.call('DELETE', smtpPath, { token: platform.session });
  try {
    const { status, body, headers } = await repeat(user.id);
    expect([status, body.delivery, body.inviteLink]).toEqual([200, 'link', linkIn(mailed).href]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await accept(tokenIn(mailed))).status).toBe(200);
    const { rows } = await platform.identity.db.query(
      `select detail::text as detail from audit_entries where subject_id = $1 and action = 'user.invited' order by id`,
      [user.id],
    );
    expect(rows).toEqual([{ detail: '{}' }, { detail: '{"again": "link"}' }]);
  } finally {
    await platform.identity.call('POST', smtpPath, { token: platform.session, body: saved.smtp });
  }
});

test('an invitation expires after seven days, which removes the member and frees the address', async () => {
  const [early, late] = [await invite(), await invite()];
  const boss = { email: 'boss@elsewhere.example', password: 'correct-horse-battery' };
  const { orgId } = await platform.identity.createOrganisation(boss.email);
  const inviteElsewhere = async (email: string) =>
    platform.identity.call('POST', '/api/v1/users', {
      token: await platform.identity.login(boss),
      body: { email, fullName: 'Somebody', password },
    });
  platform.identity.advance(7 * DAY - 60_000);
  expect((await accept(early.token)).status).toBe(200);
  expect((await inviteElsewhere(late.email)).status).toBe(409);
  platform.identity.advance(60_000);
  expect((await accept(late.token)).body).toEqual(linkInvalid);
  const again = await inviteElsewhere(late.email);
  expect([again.status, again.body.user?.orgId]).toEqual([201, orgId]);
  expect(await getAudit(late.id)).toEqual(['user.invited', 'invitation.lapsed']);
  // A member who has accepted keeps the address.
  expect((await inviteElsewhere(early.email)).status).toBe(409);
  const old = await platform.identity.call('PATCH', `/api/v1/users/${late.id}`, {
    token: await platform.identity.login(),
    body: { fullName: 'Ghost' },
  });
  expect(old.status).toBe(404);
});

test('the expiry job removes lapsed invitees, and requesting the link again does not delay that', async () => {
  const session = await platform.identity.login();
  const inviteNow = async () => {
    const email = `lapsing-${String(Math.random()).slice(2)}@example.com`;
    const { body } = await platform.identity.call('POST', '/api/v1/users', {
      token: session,
      body: { email, fullName: 'Late' },
    });
    return { id: body.user.id as string, email };
  };
  const [lapsing, asked] = [await inviteNow(), await inviteNow()];
  const token = tokenIn(await platform.mailTo(asked.email, invited));
  // The mails of another organisation wait, because it has no SMTP server.
  const settled = () =>
    waitFor(
      async () => {
        const { rowCount } = await platform.identity.db.query(
          'select from outgoing_mails m left join users u on u.id = m.user_id where coalesce(u.email, m.email) = any($1)',
          [[lapsing.email, asked.email]],
        );
        return rowCount === 0;
      },
      { what: 'the outcome of the mails' },
    );
  await settled();
  platform.identity.advance(5 * DAY);
  await platform.post('password/forgot', { email: asked.email });
  expect(tokenIn(await platform.mailTo(asked.email, invited, 2))).toBe(token);
  platform.identity.advance(2 * DAY + 60_000);
  // A request after the invitation has lapsed mails nothing, even before the expiry job runs.
  await platform.minutePassed();
  await platform.post('password/forgot', { email: asked.email });
  await settled();
  expect(platform.mailsTo(asked.email)).toHaveLength(2);
  expect((await accept(token)).body).toEqual(linkInvalid);
  await platform.identity.sweep();
  for (const { id } of [lapsing, asked])
    expect(await getAudit(id)).toEqual(['user.invited', 'invitation.lapsed']);
});
