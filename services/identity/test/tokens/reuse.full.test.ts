import { waitFor } from '@platform/testing';
import { createApplication } from '../oauth/applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  refresh,
  supersede,
} from '../oauth/flow.js';
import { type Alerts, path, startAlerts } from './alerts.js';

let platform: Alerts['platform'];
let member: Alerts['member'];
let make: Alerts['make'];
let getStatus: Alerts['getStatus'];
let rotate: Alerts['rotate'];
let findEntries: Alerts['findEntries'];
let waitForEntry: Alerts['waitForEntry'];
let mailsAbout: Alerts['mailsAbout'];

beforeAll(async () => {
  ({ platform, member, make, getStatus, rotate, findEntries, waitForEntry, mailsAbout } =
    await startAlerts());
});
afterAll(() => platform.close());

test('a use of a rotated token after its end is audited, and mailed to the owner once', async () => {
  const old = await make('rotated');
  const token = await rotate(old);
  for (const address of ['203.0.113.9', '203.0.113.9', '198.51.100.9']) {
    const headers = { 'x-forwarded-for': address, 'user-agent': 'curl/8.5.0' };
    expect(await getStatus(old, headers)).toBe(401);
  }
  await waitFor(async () => (await findEntries('token.reused', old)).length === 2, {
    what: 'an entry for each address',
  });
  expect(await findEntries('token.reused', old)).toMatchObject([
    { address: '203.0.113.9' },
    { address: '198.51.100.9' },
  ]);
  const mail = await platform.mailTo(member.email, /^A replaced access token was used$/);
  expect(mail.text).toContain('“rotated”');
  expect(mail.text).toMatch(
    /Time: +\d+ \w+ \d{4} at \d\d:\d\d UTC\nDevice: +curl\nIP address: +203\.0\.113\.9\n/,
  );
  await platform.drained();
  expect(mailsAbout(member.email, 'rotated')).toHaveLength(1);
  expect(await getStatus(token)).toBe(200);
});

test('a token that was revoked without a rotation causes no alert', async () => {
  const token = await make('ended');
  await platform.identity.call('DELETE', `${path}/${token.id}`, { token: member.session });
  expect(await getStatus(token)).toBe(401);
  // Refusals are written in their order.
  const marker = await make('marker');
  await rotate(marker);
  await getStatus(marker);
  await waitForEntry('token.reused', marker);
  expect(await findEntries('token.reused', token)).toEqual([]);
});

test('a reaction that fails is repeated, and delays neither the audit nor other reactions', async () => {
  const { db } = platform.identity;
  await db.query(`alter table personal_access_tokens add constraint no_reports
    check (name <> 'unlucky' or reuse_reported_at is null) not valid`);
  const names = ['unlucky', ...Array.from({ length: 6 }, (_value, index) => `lucky ${index}`)];
  const tokens = await Promise.all(names.map((name) => make(name)));
  await Promise.all(tokens.map((token) => rotate(token)));
  for (const old of tokens) expect(await getStatus(old)).toBe(401);
  for (const name of names.slice(1))
    await waitFor(() => mailsAbout(member.email, name).length > 0, { what: name });
  for (const old of tokens) expect(await findEntries('token.reused', old)).toHaveLength(1);
  expect(mailsAbout(member.email, 'unlucky')).toEqual([]);
  await db.query('alter table personal_access_tokens drop constraint no_reports');
  await waitFor(() => mailsAbout(member.email, 'unlucky').length > 0, {
    what: 'its mail',
  });
});

test('the reuse of a refresh token of an application is mailed to its owner once, and audited', async () => {
  const { identity, session } = platform;
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
  });
  const browser = createBrowser(identity);
  await browser.signIn(member);
  const authorization = createAuthorization(application.clientId, { scope: 'user:read' });
  const target = await consent(browser, authorization, { scope: 'user:read' });
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  const reuse = () => refresh(identity, application.clientId, body.refresh_token as string);
  await supersede(identity, application.clientId, body.refresh_token as string);
  for (let attempt = 0; attempt < 2; attempt += 1) expect((await reuse()).status).toBe(400);
  const mail = await platform.mailTo(member.email, /^An application was disconnected$/);
  expect(mail.text).toContain('“Desk agent”');
  await platform.drained();
  const mails = platform.mailsTo(member.email).filter(({ subject }) => subject === mail.subject);
  expect(mails).toHaveLength(1);
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
  );
  expect(rows).toEqual([
    { reason: 'refresh token used again', detail: { clientId: application.clientId, userId: member.id } },
  ]);
});

test('who rotates and reuses tokens in a loop gets ten alerts an hour, and one that says so', async () => {
  const owner = await platform.identity.createMember(platform.session);
  const first = await make('looped', owner.session);
  const replaced = [first];
  for (let count = 0; count < 12; count += 1) {
    const answer = await platform.identity.call('POST', `${path}/${replaced.at(-1)?.id}/rotate`, {
      token: owner.session,
      body: { graceSeconds: 0 },
    });
    replaced.push(answer.body.token);
  }
  for (const token of replaced.slice(0, -1)) expect(await getStatus(token)).toBe(401);
  await platform.mailTo(owner.email, /^There are more alerts of one kind$/);
  for (const token of replaced.slice(0, -1)) await waitForEntry('token.reused', token);
  await waitFor(
    async () => {
      const { rows } = await platform.identity.db.query(
        'select from personal_access_tokens where owner_id = $1 and reuse_reported_at is null',
        [owner.id],
      );
      return rows.length === 1;
    },
    { what: 'the reactions' },
  );
  await platform.drained();
  const alerts = platform
    .mailsTo(owner.email)
    .filter(({ subject }) => subject === 'A replaced access token was used');
  expect(alerts).toHaveLength(10);
});

test('with revokeFamilyOnReuse, the reuse of a token ends its whole family', async () => {
  const policy = {
    allowList: [],
    maxLifetimeDays: null,
    allowsNever: true,
    deniedScopes: [],
    revokeFamilyOnReuse: true,
    revokeUnusedDays: null,
  };
  const put = (body: object) =>
    platform.identity.call('PUT', '/api/v1/organisation/token-policy', { token: platform.session, body });
  await put(policy);
  const old = await make('family');
  const child = await make('child', old.accessToken);
  const second = await rotate(old);
  const third = await rotate(second);
  expect(await Promise.all([child, third].map((token) => getStatus(token)))).toEqual([200, 200]);
  expect(await getStatus(old)).toBe(401);
  await waitFor(async () => (await getStatus(third)) === 401, {
    what: 'the end of the family',
  });
  expect(await getStatus(child)).toBe(401);
  const mail = await waitFor(() => mailsAbout(member.email, 'family')[0], {
    what: 'the mail',
  });
  expect(mail.text).toMatch(/was\s+revoked/);
  await put({ ...policy, revokeFamilyOnReuse: false });
});
