import { waitFor } from '@platform/testing';
import { startPlatform } from '../../sign-in/account-flows/platform.js';
import { useAccounts } from './use-accounts.js';

const TOKENS = '/api/v1/personal-access-tokens';
const accounts = useAccounts(startPlatform);

async function createToken(fields: object = {}) {
  const token = await accounts.createToken(await accounts.createAccount(), fields);
  const request = (method: string, body?: object, credential = accounts.session) =>
    accounts.identity.call(method, `${TOKENS}/${token.id}`, { token: credential, ...(body && { body }) });
  const rotate = (body: object, credential = accounts.session) =>
    accounts.identity.call('POST', `${TOKENS}/${token.id}/rotate`, {
      token: credential,
      body: { graceSeconds: 0, ...body },
    });
  return { ...token, request, rotate };
}

test('an administrator renames a token of an account and mutes it, and the audit shows it', async () => {
  const { id, accessToken, request } = await createToken();
  expect(await accounts.listUsers(accessToken)).toBe(200);
  const change = { name: 'weekly backup', noticesMuted: true };
  const edited = await request('PATCH', change);
  expect([edited.status, edited.body.token]).toMatchObject([200, { id, ...change, state: 'active' }]);
  // The last use is written later.
  const lastUse = { lastUse: expect.anything(), lastUsedAt: expect.anything() };
  await waitFor(async () => (await request('GET')).body.token.lastUse !== null, { what: 'the last use' });
  expect((await request('GET')).body.token).toMatchObject({ ...edited.body.token, ...lastUse });
  expect(await accounts.findEntries(id)).toContainEqual(
    expect.objectContaining({ action: 'token.changed', credential_kind: 'session' }),
  );
});

test('an administrator takes scopes and addresses from a token of an account by rotating it', async () => {
  const { accessToken, rotate } = await createToken();
  const { status, body } = await rotate({ scopes: ['crawl:read'], allowList: ['203.0.113.0/24'] });
  expect([status, body.token.scopes]).toEqual([201, ['crawl:read']]);
  const inside = { 'x-forwarded-for': '203.0.113.7' };
  const statuses = [
    await accounts.listUsers(accessToken),
    await accounts.listUsers(body.token.accessToken as string),
    await accounts.listUsers(body.token.accessToken as string, inside),
  ];
  expect(statuses).toEqual([401, 401, 403]);
});

test('only administrators of the organisation with a session see, change and rotate a token of an account', async () => {
  const { request, rotate } = await createToken();
  const { identity } = accounts;
  const member = await identity.createMember(accounts.session);
  const administrator = await identity.createToken(accounts.session, {
    scopes: ['pat:read', 'pat:write', 'user:write'],
  });
  const stranger = await identity.createOrganisation('admin@edits.example');
  const body = { noticesMuted: true };
  for (const token of [member.session, administrator.accessToken, stranger.session])
    expect([
      (await request('GET', undefined, token)).status,
      (await request('PATCH', body, token)).status,
      (await rotate({}, token)).status,
      (await request('DELETE', undefined, token)).status,
    ]).toEqual([404, 404, 404, 404]);
  expect((await request('GET')).body.token).toMatchObject({ noticesMuted: false, state: 'active' });
});
