import { linkIn, password, startPlatform, tokenIn } from './platform.js';

const invited = /^You are invited to Example$/;
const smtpPath = '/api/v1/configurationManager/smtpConfig';

const platform = await startPlatform();
afterAll(() => platform.close());

const repeat = (id: string, token = platform.session) =>
  platform.identity.call('POST', `/api/v1/users/${id}/invitation`, { token, body: {} });

test('mails an invitation again with the same link, until it is accepted', async () => {
  const user = await platform.createUser({});
  const first = await platform.mailTo(user.email, invited);
  const { status, body } = await repeat(user.id);
  expect([status, body]).toEqual([
    200,
    { delivery: 'mail', inviteLink: null, expiresAt: expect.any(String) },
  ]);
  const second = await platform.mailTo(user.email, invited, 2);
  expect(linkIn(second).href).toBe(linkIn(first).href);
  expect((await platform.post('invitations/accept', { token: tokenIn(first), password })).status).toBe(200);
  const accepted = await repeat(user.id);
  expect([accepted.status, accepted.body.error.code]).toEqual([409, 'INVITATION_ACCEPTED']);
});

test('returns the link to hand over while the organisation has no SMTP server', async () => {
  const { body: saved } = await platform.identity.call('GET', smtpPath, { token: platform.session });
  const user = await platform.createUser({});
  const mailed = await platform.mailTo(user.email, invited);
  await platform.identity.call('DELETE', smtpPath, { token: platform.session });
  try {
    const { status, body, headers } = await repeat(user.id);
    expect([status, body.delivery, body.inviteLink]).toEqual([200, 'link', linkIn(mailed).href]);
    expect(headers.get('cache-control')).toBe('no-store');
    const token = new URLSearchParams(new URL(body.inviteLink as string).hash.slice(1)).get('token') ?? '';
    expect((await platform.post('invitations/accept', { token, password })).status).toBe(200);
    const { rows } = await platform.identity.db.query(
      `select detail::text as detail from audit_entries where subject_id = $1 and action = 'user.invited' order by id`,
      [user.id],
    );
    expect(rows).toEqual([{ detail: '{}' }, { detail: '{"again": "link"}' }]);
  } finally {
    await platform.identity.call('POST', smtpPath, { token: platform.session, body: saved.smtp });
  }
});

test('refuses members, tokens, other organisations and members who need no invitation', async () => {
  const { identity } = platform;
  const user = await platform.createUser({});
  const member = await identity.createMember(platform.session);
  const pat = await identity.createToken(platform.session, { scopes: ['user:write', 'user:read'] });
  const other = await identity.createOrganisation('repeat-other@example.com');
  const answers = [
    await repeat(user.id, member.session),
    await repeat(user.id, pat.accessToken),
    await repeat(user.id, other.session),
    await repeat(member.id),
    await repeat('me'),
  ];
  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
    [403, 'ADMIN_REQUIRED'],
    [403, 'SESSION_REQUIRED'],
    [404, 'NOT_FOUND'],
    [409, 'INVITATION_ACCEPTED'],
    [400, 'VALIDATION_ERROR'],
  ]);
});
