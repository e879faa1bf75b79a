import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../../identity.js';
import { noPolicy, policyPath } from '../../token-policy.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const tokensPath = '/api/v1/personal-access-tokens';

/** Sends the head of a request, waits until the credential is verified, runs `meanwhile`, and then sends the body. */
async function sendHeld(
  method: 'POST' | 'PATCH',
  path: string,
  token: CreatedToken,
  body: object,
  meanwhile: () => Promise<unknown>,
) {
  const content = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token.accessToken}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
  };
  const held = request(identity.url + path, { method, headers, agent: false });
  const answered = once(held, 'response') as Promise<[IncomingMessage]>;
  held.flushHeaders();
  const isVerified = async () =>
    (await identity.db.query('select from token_last_used where token_id = $1', [token.id])).rowCount === 1;
  await waitFor(isVerified, { what: 'the verification' });
  await meanwhile();
  identity.advance(1_000);
  held.end(content);
  const [answer] = await answered;
  return { status: answer.statusCode, text: await text(answer) };
}

test('a token that is revoked while the body is delayed creates no token', async () => {
  const token = await identity.createToken(session, { scopes: ['pat:write'] });
  const revoke = () => identity.call('DELETE', `${tokensPath}/${token.id}`, { token: session });
  const body = { name: 'afterwards', scopes: ['pat:write'] };
  expect(await sendHeld('POST', tokensPath, token, body, revoke)).toMatchObject({ status: 401 });
  const { rowCount } = await identity.db.query(
    "select from personal_access_tokens where name = 'afterwards'",
  );
  expect(rowCount).toBe(0);
});

test('an administrator who is demoted while the body is delayed changes no member', async () => {
  const other = await identity.createMember(session, 'admin');
  const token = await identity.createToken(other.session, { scopes: ['user:write'] });
  const demote = () =>
    identity.call('PATCH', `/api/v1/users/${other.id}`, { token: session, body: { role: 'member' } });
  const body = { fullName: 'Eve Afterwards' };
  expect(await sendHeld('PATCH', `/api/v1/users/${other.id}`, token, body, demote)).toMatchObject({
    status: 503,
  });
});

test('a token that loses a scope while the body is delayed changes nothing', async () => {
  const token = await identity.createToken(session, { scopes: ['pat:write', 'user:read'] });
  const savePolicy = (deniedScopes: string[]) =>
    identity.call('PUT', policyPath, {
      token: session,
      body: { ...noPolicy, deniedScopes },
    });
  const deny = () => savePolicy(['pat:write']);
  try {
    const refused = await sendHeld('PATCH', `${tokensPath}/${token.id}`, token, { name: 'denied' }, deny);
    expect(refused.status).toBe(503);
  } finally {
    await savePolicy([]);
  }
  const { rowCount } = await identity.db.query("select from personal_access_tokens where name = 'denied'");
  expect(rowCount).toBe(0);
});

test('a member who is promoted while the body is delayed is accepted', async () => {
  const other = await identity.createMember(session);
  const token = await identity.createToken(other.session, { scopes: ['pat:write'] });
  const promote = () =>
    identity.call('PATCH', `/api/v1/users/${other.id}`, { token: session, body: { role: 'admin' } });
  const body = { name: 'promoted', scopes: ['pat:write'] };
  expect(await sendHeld('POST', tokensPath, token, body, promote)).toMatchObject({ status: 201 });
});
