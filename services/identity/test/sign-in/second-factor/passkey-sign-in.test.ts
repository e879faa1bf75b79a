import { waitFor } from '@platform/testing';
import { createHttpBrowser, fieldIn, type HttpBrowser } from '../../browser.js';
import { type Member, startIdentity } from '../../identity.js';
import { addPasskey, createPasskey, type Forged, type SoftPasskey } from './passkey.js';

/* A passkey alone signs in on the page of the sign-in. The tests of the pages use the authenticator of Chromium. */

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
afterAll(() => identity.close());

const HOUR_MS = 60 * 60_000;

interface Options {
  readonly challenge: string;
  readonly rpId: string;
  readonly userVerification: string;
  readonly allowCredentials: readonly unknown[];
}

const createPerson = async () => {
  const member = await identity.createMember(session);
  return { member, ...(await addPasskey(identity, member.session)) };
};

const optionsIn = (text: string): Options =>
  JSON.parse((/data-passkey-alone="([^"]*)"/.exec(text)?.[1] ?? '{}').replaceAll('&quot;', '"')) as Options;

const openPage = async (address?: string) => {
  const browser = createHttpBrowser(identity.url, address);
  const page = await browser.open('/sign-in?returnTo=%2Fapi%2Fv1%2Fusers%2Fme');
  return { browser, page, csrf: fieldIn(page, 'csrf'), options: optionsIn(page.text) };
};

const send = ({ browser, csrf }: { readonly browser: HttpBrowser; readonly csrf: string }, passkey: object) =>
  browser.post('/sign-in/passkey', { csrf, returnTo: '/api/v1/users/me', passkey: JSON.stringify(passkey) });

async function signIn(passkey: SoftPasskey, forged: Forged = {}) {
  const visit = await openPage();
  const answer = await send(visit, passkey.use(visit.options, forged));
  return { ...visit, answer };
}
const whoIsSignedIn = async (browser: HttpBrowser) =>
  (await browser.call('GET', '/api/v1/users/me')).body?.user?.id as string | undefined;
const listSignIns = async ({ id }: Pick<Member, 'id'>) =>
  (
    await identity.db.query<{ detail: object }>(
      `select action, detail, reason from audit_entries where subject_id = $1 and action = 'sign_in.failed'
       union all
       select action, detail, reason from audit_entries where actor_id = $1 and action = 'session.created' and detail->>'method' = 'passkey'`,
      [id],
    )
  ).rows;

test('AUTH-65 a passkey alone signs in: any of the device, whose user it verifies, counted as both factors', async () => {
  const { member, passkey } = await createPerson();
  const { answer, browser, options } = await signIn(passkey);
  expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/api/v1/users/me']);
  expect(await whoIsSignedIn(browser)).toBe(member.id);
  const { rows } = await identity.db.query(
    `select first_factor, single_factor_generation from sessions where user_id = $1 and first_factor = 'passkey'`,
    [member.id],
  );
  expect(rows).toEqual([{ first_factor: 'passkey', single_factor_generation: null }]);
  expect(await listSignIns(member)).toEqual([
    { action: 'session.created', detail: expect.objectContaining({ method: 'passkey', secondFactor: 'passkey' }), reason: null },
  ]);
}); // oxfmt-ignore

test.each<[string, Forged]>([
  ['whose device has not verified the person', { isVerified: false }],
  ['that names no account', { userHandle: '' }],
  ['that names another account', { userHandle: Buffer.alloc(16, 1).toString('base64url') }],
  ['for another origin', { origin: 'https://phishing.example' }],
  ['for another site', { rpId: 'phishing.example' }],
  ['of another ceremony', { type: 'webauthn.create' }],
  ['for a challenge that nobody has made', { challenge: Buffer.alloc(64, 1).toString('base64url') }],
])('AUTH-66 a passkey %s signs nobody in, and the audit says so', async (_what, forged) => {
  const { member, passkey } = await createPerson();
  const { answer, browser } = await signIn(passkey, forged);
  expect(answer.status).toBe(401);
  expect(answer.text).toContain('This passkey did not sign you in: try again, or use your password.');
  expect(await whoIsSignedIn(browser)).toBeUndefined();
  const entries = await waitFor(
    async () => {
      const found = await listSignIns(member);
      return found.length > 0 ? found : undefined;
    },
    { what: 'the entry of the audit' },
  );
  expect(entries).toEqual([{ action: 'sign_in.failed', detail: { method: 'passkey' }, reason: null }]);
});

test('AUTH-66 one that no account has is refused in the same words as a wrong signature, and a removed one as well', async () => {
  const stranger = createPasskey();
  stranger.register({ challenge: '', user: { id: Buffer.alloc(16).toString('base64url') } });
  const { member, passkey } = await createPerson();
  const wrong = await signIn(passkey, { origin: 'https://phishing.example' });
  const strip = (text: string) => text.replaceAll(/ (?:value|data-passkey-alone)="[^"]*"/g, '');
  const unknown = await signIn(stranger);
  expect([unknown.answer.status, strip(unknown.answer.text)]).toEqual([401, strip(wrong.answer.text)]);
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  const removed = await signIn(passkey);
  expect([removed.answer.status, strip(removed.answer.text)]).toEqual([401, strip(wrong.answer.text)]);
});

test('AUTH-66 a challenge works once, on all replicas together, for an hour, and not for a form of another site', async () => {
  const { session: own } = await identity.createMember(session);
  // Without a counter, only the challenge tells that an answer was used.
  const { passkey } = await addPasskey(identity, own, {}, createPasskey({ hasCounter: false }));
  const visit = await openPage();
  const signed = passkey.use(visit.options);
  const statuses = await Promise.all([send(visit, signed), send(visit, signed), send(visit, signed)]);
  expect(statuses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 401, 401]);
  // Nothing that changes the factors makes it good again.
  const again = await openPage();
  await identity.db.query(`delete from passkey_challenges where holder not like 'signed_in:%'`);
  expect((await send(again, signed)).status).toBe(401);
  const other = await openPage();
  expect((await send({ ...other, csrf: '' }, passkey.use(other.options))).status).toBe(403);
  const late = await openPage();
  const lateSigned = passkey.use(late.options);
  identity.advance(HOUR_MS + 1_000);
  expect((await send(late, lateSigned)).status).toBe(401);
});

test('AUTH-66 opening the page stores nothing, and nothing else than a passkey is taken for one', async () => {
  const count = async () => (await identity.db.query('select from passkey_challenges')).rowCount;
  const before = await count();
  const visit = await openPage();
  expect(await count()).toBe(before);
  const { browser, csrf } = visit;
  for (const passkey of ['', '{}', 'null', '{"id": 1}', 'x']) {
    const answer = await browser.post('/sign-in/passkey', { csrf, returnTo: '/', passkey });
    expect([passkey, answer.status]).toEqual([passkey, passkey === '' ? 401 : 400]);
  }
  // Its script is the only one, and the page has a way in without it.
  expect(visit.page.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'(?:;|$)/);
});

test('AUTH-66 wrong passkeys are limited for each passkey and address, and a good one of another address still signs in', async () => {
  const { passkey } = await createPerson();
  const tryFrom = async (address: string, forged: Forged = {}) => {
    const visit = await openPage(address);
    return (await send(visit, passkey.use(visit.options, forged))).status;
  };
  const statuses: number[] = [];
  for (let count = 0; count < 11; count += 1)
    statuses.push(await tryFrom('203.0.113.7', { origin: 'https://phishing.example' }));
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  expect(await tryFrom('203.0.113.7')).toBe(429);
  expect(await tryFrom('198.51.100.9')).toBe(303);
});

test('AUTH-66 a counter that fell is refused, audited and mailed', async () => {
  const { member, passkey } = await createPerson();
  expect((await signIn(passkey, { counter: 7 })).answer.status).toBe(303);
  expect((await signIn(passkey, { counter: 7 })).answer.status).toBe(401);
  const { rows } = await identity.db.query(
    `select detail from audit_entries where subject_id = $1 and action = 'second_factor.counter_fell'`,
    [member.id],
  );
  expect(rows).toEqual([{ detail: { factor: 'passkey', name: 'My key' } }]);
});

test('AUTH-65 it satisfies an organisation that requires a second factor, and not one that requires its provider', async () => {
  const { session: boss, orgId } = await identity.createOrganisation('boss@passkeys.example');
  const credentials = { email: 'ada@passkeys.example', password: 'correct horse battery' };
  const created = await identity.call('POST', '/api/v1/users', { token: boss, body: { ...credentials, fullName: 'Ada' } });
  const { passkey } = await addPasskey(identity, await identity.login(credentials));
  const body = { codesEnabled: true, secondFactorRequired: true };
  await identity.call('POST', '/api/v1/configurationManager/signInConfig', { token: boss, body });
  const first = await signIn(passkey);
  expect([first.answer.status, await whoIsSignedIn(first.browser)]).toEqual([303, created.body.user.id]);
  await identity.db.query(
    `insert into identity_providers (org_id, issuer, client_id, scopes, second_factor_values, is_just_in_time, is_required, revision, created_at, updated_at)
     values ($1, 'https://idp.example', 'c', '{openid}', '{}', false, true, gen_random_uuid(), now(), now())`,
    [orgId],
  );
  await identity.db.query(
    `insert into identity_domains (org_id, domain, challenge, created_at, verified_at, verified_by)
     values ($1, 'passkeys.example', 'c', now(), now(), 'command')`,
    [orgId],
  );
  const { answer, browser } = await signIn(passkey);
  expect(answer.status).toBe(401);
  expect(answer.text).toContain('Your organisation requires you to sign in with its identity provider');
  expect(await whoIsSignedIn(browser)).toBeUndefined();
  // Its challenge is used up, and the audit says why a passkey that is right was refused.
  await waitFor(async () => (await listSignIns(created.body.user)).some((entry) => (entry as { reason?: string }).reason === 'provider required'), {
    what: 'the audit entry',
  });
}); // oxfmt-ignore
