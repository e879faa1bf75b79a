import { toDigest } from '@platform/auth';
import { DAY_MS } from '@platform/service-kit';
import { isSessionOpen } from '../../src/base/open-session.js';
import { expireTokens } from '../../src/jobs/jobs.sql.js';
import { createSecret } from '../mcp/events/agent.js';
import { VERSION } from '../mcp/endpoint/endpoint.js';
import { type Act, CREATED_BY_KEY, type Request, send, SUBSCRIBED_EVENT, type World } from './acting.js';

/* What people, agents and jobs do in the organisation of `acting.ts`. */

const act = (toRequest: (world: World) => Request, ends?: Act['ends']): Act => ({
  run: (replica, world) => send(replica, toRequest(world)),
  ...(ends && { ends }),
});

/** The sessions of Cem that are open, but for the one that is kept. */
const sessionsOf = (userId: string, keptHash = '') => ({
  text: `select from sessions s join organisations o on o.id = s.org_id
    where s.user_id = $1 and s.token_hash <> $2 and ${isSessionOpen('s', 'o')}`,
  values: [userId, keptHash],
});
const memberOf = (id: string) => ({
  text: 'select from users where id = $1 and removed_at is null',
  values: [id],
});
const administratorOf = (id: string) => ({
  text: `select from users where id = $1 and role = 'admin' and removed_at is null`,
  values: [id],
});
/** A token, and what it created. */
const familyOf = (id: string) => ({
  text: `with recursive family as (
      select id, status from personal_access_tokens where id = $1
      union all
      select child.id, child.status from family join personal_access_tokens child on child.parent_id = family.id
    ) select from family where status = 'active'`,
  values: [id],
});

const tokens = '/api/v1/personal-access-tokens';
const newToken = { name: 'new', scopes: ['user:read'] };
const newPassword = 'another-horse-staple';

/** A call of the tool endpoint with the token. */
const callMcp = ({ token }: World, method: string, url: string, secret?: string): Request => {
  const params = {
    name: SUBSCRIBED_EVENT,
    arguments: {},
    delivery: { mode: 'webhook', url, ...(secret !== undefined && { secret }) },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  return {
    method: 'POST',
    path: '/mcp',
    token: token.accessToken,
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      'mcp-name': params.name,
    },
  };
};

export const memberActs = {
  'Ada demotes Bert': act(
    ({ ada, bert }) => ({ method: 'PATCH', path: `/api/v1/users/${bert.id}`, token: ada.session, body: { role: 'member' } }),
    ({ bert }) => administratorOf(bert.id),
  ),
  'Bert demotes Ada': act(
    ({ ada, bert }) => ({ method: 'PATCH', path: `/api/v1/users/${ada.id}`, token: bert.session, body: { role: 'member' } }),
    ({ ada }) => administratorOf(ada.id),
  ),
  'Ada removes Bert': act(
    ({ ada, bert }) => ({ method: 'DELETE', path: `/api/v1/users/${bert.id}`, token: ada.session }),
    ({ bert }) => memberOf(bert.id),
  ),
  'Bert removes Ada': act(
    ({ ada, bert }) => ({ method: 'DELETE', path: `/api/v1/users/${ada.id}`, token: bert.session }),
    ({ ada }) => memberOf(ada.id),
  ),
  'Bert promotes himself': act(({ bert }) => ({ method: 'PATCH', path: `/api/v1/users/${bert.id}`, token: bert.session, body: { role: 'admin' } })),
  'Bert leaves': act(
    ({ bert }) => ({ method: 'DELETE', path: `/api/v1/users/${bert.id}`, token: bert.session }),
    ({ bert }) => memberOf(bert.id),
  ),
  'Ada leaves': act(
    ({ ada }) => ({ method: 'DELETE', path: `/api/v1/users/${ada.id}`, token: ada.session }),
    ({ ada }) => memberOf(ada.id),
  ),
  'Bert removes Cem': act(
    ({ bert, cem }) => ({ method: 'DELETE', path: `/api/v1/users/${cem.id}`, token: bert.session }),
    ({ cem }) => memberOf(cem.id),
  ),
  'Bert invites Eve': act(({ bert }) => ({
    method: 'POST',
    path: '/api/v1/users',
    token: bert.session,
    body: { email: 'eve@example.com', fullName: 'Eve' },
  })),
  'Ada withdraws the invitation': act(
    ({ ada, ida }) => ({ method: 'DELETE', path: `/api/v1/users/${ida.id}?state=invited`, token: ada.session }),
    ({ ida }) => memberOf(ida.id),
  ),
  'Ida accepts the invitation': act(
    ({ links }) => ({ method: 'POST', path: '/api/v1/auth/invitations/accept', body: { token: links.invitation, password: newPassword } }),
    ({ ida }) => ({ text: 'select from users where id = $1 and password_hash is null', values: [ida.id] }),
  ),
  'Ada has Ida invited again': act(({ ada, ida }) => ({
    method: 'POST',
    path: `/api/v1/users/${ida.id}/invitation`,
    token: ada.session,
    body: {},
  })),
  'Cem renames himself': act(({ cem }) => ({ method: 'PATCH', path: '/api/v1/users/me', token: cem.session, body: { fullName: 'Cem' } })),
  'Ada adds Bert to the group': act(({ ada, bert, group }) => ({ method: 'PUT', path: `/api/v1/groups/${group.id}/members/${bert.id}`, token: ada.session })),
  'Bert removes the group': act(
    ({ bert, group }) => ({ method: 'DELETE', path: `/api/v1/groups/${group.id}`, token: bert.session }),
    ({ group }) => ({ text: 'select from group_members where group_id = $1', values: [group.id] }),
  ),
} satisfies Record<string, Act>; // oxfmt-ignore

export const signInActs = {
  'Cem signs in': act(({ cem }) => ({ method: 'POST', path: '/api/v1/auth/login', body: { email: cem.email, password: cem.password } })),
  'Cem signs out': act(({ cem }) => ({ method: 'POST', path: '/api/v1/auth/logout', token: cem.session })),
  'Cem resets the password': act(
    ({ links }) => ({ method: 'POST', path: '/api/v1/auth/password/reset', body: { token: links.reset, password: newPassword } }),
    ({ cem }) => sessionsOf(cem.id),
  ),
  'Cem changes the password': act(
    ({ cem }) => ({
      method: 'POST',
      path: '/api/v1/auth/password',
      token: cem.session,
      body: { currentPassword: cem.password, newPassword },
    }),
    ({ cem }) => sessionsOf(cem.id, toDigest(cem.session)),
  ),
  'Ada ends the sessions of Cem': act(({ ada, cem }) => ({ method: 'DELETE', path: `/api/v1/users/${cem.id}/sessions`, token: ada.session })),
  'Bert requires second factors': act(
    ({ bert }) => ({
      method: 'POST',
      path: '/api/v1/configurationManager/signInConfig',
      token: bert.session,
      body: { codesEnabled: true, secondFactorRequired: true, endSessions: true },
    }),
    ({ cem }) => sessionsOf(cem.id),
  ),
} satisfies Record<string, Act>; // oxfmt-ignore

export const tokenActs = {
  'Cem creates a token': act(({ cem }) => ({ method: 'POST', path: tokens, token: cem.session, body: newToken })),
  'Cem creates a token by a key': act(({ cem }) => ({
    method: 'POST',
    path: tokens,
    token: cem.session,
    body: { ...newToken, name: CREATED_BY_KEY },
    headers: { 'idempotency-key': 'once' },
  })),
  'the token creates another one': act(({ token }) => ({ method: 'POST', path: tokens, token: token.accessToken, body: newToken })),
  'Cem rotates the token': act(({ cem, token }) => ({ method: 'POST', path: `${tokens}/${token.id}/rotate`, token: cem.session, body: {} })),
  'Cem rotates the token at once': act(
    ({ cem, token }) => ({ method: 'POST', path: `${tokens}/${token.id}/rotate`, token: cem.session, body: { graceSeconds: 0 } }),
    ({ token }) => familyOf(token.id),
  ),
  'the token rotates itself': act(({ token }) => ({ method: 'POST', path: `${tokens}/self/rotate`, token: token.accessToken, body: {} })),
  'Cem revokes the token': act(
    ({ cem, token }) => ({ method: 'DELETE', path: `${tokens}/${token.id}`, token: cem.session }),
    ({ token }) => familyOf(token.id),
  ),
  'Cem revokes the token alone': act(
    ({ cem, token }) => ({ method: 'DELETE', path: `${tokens}/${token.id}`, token: cem.session, body: { keepDescendants: true } }),
    ({ token }) => familyOf(token.id),
  ),
  'Ada revokes the child': act(
    ({ ada, child }) => ({ method: 'DELETE', path: `${tokens}/admin/${child.id}`, token: ada.session }),
    ({ child }) => familyOf(child.id),
  ),
  'tokens expire': { run: ({ pool }) => expireTokens(pool, new Date(Date.now() + 91 * DAY_MS), 100) },
  'Ada creates a token of the account': act(({ ada, account }) => ({
    method: 'POST',
    path: `/api/v1/service-accounts/${account.id}/tokens`,
    token: ada.session,
    body: newToken,
  })),
  'Bert removes the account': act(
    ({ bert, account }) => ({ method: 'DELETE', path: `/api/v1/service-accounts/${account.id}`, token: bert.session }),
    ({ account }) => ({ text: 'select from service_accounts where id = $1 and removed_at is null', values: [account.id] }),
  ),
} satisfies Record<string, Act>; // oxfmt-ignore

export const agentActs = {
  'the agent refreshes': act(({ clientId, grant }) => ({
    method: 'POST',
    path: '/oauth2/token',
    form: { grant_type: 'refresh_token', client_id: clientId, refresh_token: grant.refreshToken },
  })),
  'Cem disconnects the agent': act(
    ({ cem, grant }) => ({ method: 'DELETE', path: `/api/v1/connected-apps/${grant.id}`, token: cem.session }),
    ({ grant }) => ({ text: 'select from oauth_grants where id = $1 and revoked_at is null', values: [grant.id] }),
  ),
  'the agent revokes its token': act(
    ({ clientId, grant }) => ({ method: 'POST', path: '/oauth2/revoke', form: { client_id: clientId, token: grant.refreshToken } }),
    ({ grant }) => ({ text: 'select from oauth_grants where id = $1 and revoked_at is null', values: [grant.id] }),
  ),
  'Ada removes the application': act(
    ({ ada, clientId }) => ({ method: 'DELETE', path: `/api/v1/oauth-applications/${clientId}`, token: ada.session }),
    ({ clientId }) => ({ text: 'select from oauth_clients where id = $1 and removed_at is null', values: [clientId] }),
  ),
  'the token subscribes': act((world) => callMcp(world, 'events/subscribe', `${world.receiverUrl}?new`, createSecret())),
  'the token subscribes again': act((world) => callMcp(world, 'events/subscribe', world.receiverUrl, createSecret())),
  'the token unsubscribes': act((world) => callMcp(world, 'events/unsubscribe', world.receiverUrl)),
} satisfies Record<string, Act>; // oxfmt-ignore
