import { startPlatform } from './platform.js';

const platform = await startPlatform();
afterAll(() => platform.close());

test('a mailed code states how long it is valid', async () => {
  const { email } = await platform.createUser();
  await platform.post('otp', { email });
  const { text } = await platform.mailTo(email, /^Your sign-in code$/);
  expect(text).toContain('This code can be used once and expires in 10 minutes.');
});

test('a reset mail states how long its link is valid, and when and from where it was requested', async () => {
  const { email } = await platform.createUser();
  await platform.post('password/forgot', { email });
  const { text } = await platform.mailTo(email, /^Choose a new password$/);
  expect(text).toContain('This link can be used once and expires in 1 hour.');
  expect(text).toMatch(/^Time: +\d+ \w+ \d{4} at \d\d:\d\d UTC$/m);
  expect(text).toMatch(/^IP address: +127\.0\.0\.1$/m);
});

test('an invitation states who invites and how long it is valid', async () => {
  const { email } = await platform.createUser({});
  const { text } = await platform.mailTo(email, /^You are invited to /);
  const { rows } = await platform.identity.db.query<{ name: string }>(
    `select full_name as name from users where role = 'admin' order by id limit 1`,
  );
  expect(text).toContain(`${rows[0]?.name} has invited you to join `);
  expect(text).toContain('This invitation is for you alone and expires in 7 days.');
});

test('MAIL-35: a member gets mails and alerts in the language that they have chosen', async () => {
  const { identity } = platform;
  const member = await identity.createMember(platform.session);
  const preferences = { token: member.session, body: { language: 'de' } };
  await identity.call('PUT', '/api/v1/users/me/preferences', preferences);
  await platform.post('password/forgot', { email: member.email });
  await platform.mailTo(member.email, /^Neues Passwort festlegen$/);
  await identity.createToken(member.session, { name: 'Auslieferung' });
  await platform.releaseHeld();
  const { text } = await platform.mailTo(member.email, /^Ein neues Zugriffstoken wurde erstellt$/);
  expect(text).toContain('das Zugriffstoken „Auslieferung“ gilt für Ihr Konto');
});
