import { startIdentity } from '../../identity.js';
import { createApplication } from '../../oauth/applications.js';
import { base, useAccounts } from './use-accounts.js';

const accounts = useAccounts(async () => {
  const identity = await startIdentity();
  return { identity, session: await identity.login(), close: () => identity.close() };
});

test('OAUTH-10: the scopes that a token of an account can have are those with which it is created', async () => {
  const listScopes = async (accountId: string) => {
    const { body } = await accounts.identity.call('GET', `${base}/${accountId}/tokens/scopes`, {
      token: accounts.session,
    });
    return (body.scopes as { scopes: { name: string }[] }[]).flatMap(({ scopes }) =>
      scopes.map(({ name }) => name),
    );
  };
  const all = ['kb:read', 'crawl:read', 'crawl:write', 'user:read', 'user:write', 'pat:write', 'SEND_MAIL'];
  for (const role of ['admin', 'member']) {
    const id = await accounts.createAccount(role);
    const offered = await listScopes(id);
    expect(offered.includes('SEND_MAIL')).toBe(role === 'admin');
    for (const scope of all) {
      const { status } = await accounts.requestToken(id, { scopes: [scope] });
      expect([scope, status]).toEqual([scope, offered.includes(scope) ? 201 : 400]);
    }
  }
  const foreign = await accounts.identity.call(
    'GET',
    `${base}/01900000-0000-7000-8000-000000000000/tokens/scopes`,
    {
      token: accounts.session,
    },
  );
  expect(foreign.status).toBe(404);
});

test('OAUTH-10: an account is created, listed, renamed and removed, as the audit records', async () => {
  const id = await accounts.createAccount('member');
  const path = `${base}/${id}`;
  const renamed = await accounts.identity.call('PATCH', path, {
    token: accounts.session,
    body: { name: 'Mirror' },
  });
  expect([renamed.status, renamed.body.serviceAccount]).toEqual([
    200,
    expect.objectContaining({ id, name: 'Mirror', role: 'member', clientId: null, lastUsedAt: null }),
  ]);
  const list = await accounts.identity.call('GET', base, { token: accounts.session });
  expect(list.body.data[0]).toEqual(renamed.body.serviceAccount);
  expect((await accounts.identity.call('DELETE', path, { token: accounts.session })).status).toBe(200);
  for (const method of ['GET', 'DELETE'])
    expect((await accounts.identity.call(method, path, { token: accounts.session })).status).toBe(404);
  expect((await accounts.findEntries(id)).map(({ action }) => action)).toEqual([
    'service_account.created',
    'service_account.changed',
    'service_account.removed',
  ]);
});

test('an account of another organisation and its tokens are not found', async () => {
  const other = await accounts.identity.createOrganisation('elsewhere@example.com');
  const id = await accounts.createAccount('admin', other.session);
  const made = await accounts.requestToken(id, {}, other.session);
  const path = `${base}/${id}`;
  for (const [method, suffix, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['GET', '/tokens/scopes'],
    ['POST', '/tokens', { name: 'x', scopes: ['user:read'] }],
  ] as const)
    expect(
      (
        await accounts.identity.call(method, path + suffix, {
          token: accounts.session,
          ...(body && { body }),
        })
      ).status,
    ).toBe(404);
  const revoking = `/api/v1/personal-access-tokens/admin/${made.body.token.id}`;
  const foreign = await accounts.identity.call('DELETE', revoking, { token: accounts.session });
  expect(foreign.status).toBe(404);
  expect(await accounts.listUsers(made.body.token.accessToken as string)).toBe(200);
});

test('removing an account ends its tokens at once, and they stay listed', async () => {
  const id = await accounts.createAccount();
  const { accessToken: token, id: tokenId } = await accounts.createToken(id);
  expect(await accounts.listUsers(token)).toBe(200);
  await accounts.identity.call('DELETE', `${base}/${id}`, { token: accounts.session });
  expect(await accounts.listUsers(token)).toBe(401);
  expect((await accounts.requestToken(id)).status).toBe(404);
  expect((await accounts.listTokensOfOrganisation()).find((item) => item.id === tokenId)).toMatchObject({
    ownerDeleted: true,
  });
});

test('the account of an application is managed with the application, and can own tokens', async () => {
  const { application } = await createApplication(accounts.identity, accounts.session);
  const id = application.serviceAccount?.id ?? '';
  const { accessToken: token } = await accounts.createToken(id);
  expect(await accounts.listUsers(token)).toBe(200);
  const path = `${base}/${id}`;
  const shown = await accounts.identity.call('GET', path, { token: accounts.session });
  expect(shown.body.serviceAccount.clientId).toBe(application.clientId);
  for (const method of ['PATCH', 'DELETE'])
    expect(
      (
        await accounts.identity.call(method, path, {
          token: accounts.session,
          ...(method === 'PATCH' && { body: { name: 'x' } }),
        })
      ).body.error.code,
    ).toBe('APPLICATION_ACCOUNT');
  await accounts.identity.call('DELETE', `/api/v1/oauth-applications/${application.clientId}`, {
    token: accounts.session,
  });
  expect(await accounts.listUsers(token)).toBe(401);
});
