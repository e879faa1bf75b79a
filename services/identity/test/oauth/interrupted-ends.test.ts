import { waitFor } from '@platform/testing';
import { startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication } from './applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  postForm,
  refresh,
  supersede,
} from './flow.js';

/*
 * The end of a connection that fails in between, as when the replica dies: when it is asked for again, it is completed.
 */

const identity = await startIdentity({ environment: { MAIL_URL: 'http://127.0.0.1:9' } });
const { application } = await createApplication(identity, await identity.login(), {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: ['http://127.0.0.1/callback'],
  authMethod: 'none',
});
const clientId = application.clientId;
const browser = createBrowser(identity);
await browser.signIn();
afterAll(() => identity.close());

async function connect() {
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const { body } = await exchangeCode(identity, authorization, code);
  const exchangeAgain = () => exchangeCode(identity, authorization, code);
  return { token: body.access_token as string, refreshToken: body.refresh_token as string, exchangeAgain };
}
type Connection = Awaited<ReturnType<typeof connect>>;

/** Sends a request, and ends the connection to the database on which it is about to revoke the grant. */
async function interrupt(send: () => Promise<{ status: number }>): Promise<void> {
  const client = await identity.db.connect();
  await client.query('begin');
  await client.query('select from oauth_grants where revoked_at is null for no key update');
  const sending = send();
  await waitFor(
    async () =>
      (
        await identity.db.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where wait_event_type = 'Lock' and datname = current_database()`,
        )
      ).rowCount === 1,
    { what: 'the revocation of the grant' },
  );
  expect((await sending).status).toBeGreaterThanOrEqual(500);
  await client.query('rollback');
  client.release();
}

const listStatus = async (token: string): Promise<number> =>
  (await createCaller(identity, token).legacy('tools/list')).status;
const findReasons = async () =>
  (
    await identity.db.query<{ reason: string }>(
      `select reason from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
    )
  ).rows.map(({ reason }) => reason);
const countReports = async () =>
  (await identity.db.query(`select from outgoing_mails where kind = 'token_alert' and reports_theft`))
    .rowCount;

test.each([
  ['refresh token', ({ refreshToken }: Connection) => refresh(identity, clientId, refreshToken)],
  ['authorization code', ({ exchangeAgain }: Connection) => exchangeAgain()],
])(
  'OAUTH-6 the %s of a connection that is used again ends the connection and is mailed, although the first attempt failed',
  async (what, useAgain) => {
    const connection = await connect();
    await supersede(identity, clientId, connection.refreshToken);
    const before = await countReports();

    await interrupt(() => useAgain(connection));
    expect([await listStatus(connection.token), await countReports()]).toEqual([200, before]);
    expect((await useAgain(connection)).body.error).toBe('invalid_grant');
    expect(await listStatus(connection.token)).toBe(401);
    expect(await findReasons()).toEqual([`${what} used again`]);
    expect(await countReports()).toBe((before ?? 0) + 1);
  },
);

test.each(['token', 'refreshToken'] as const)(
  'a client that revokes its %s again ends the connection, although the first attempt failed',
  async (kind) => {
    const connection = await connect();
    const form = { client_id: clientId, token: connection[kind] };
    const before = await countReports();
    await interrupt(() => postForm(identity, 'revoke', form));
    expect((await postForm(identity, 'revoke', form)).status).toBe(200);
    expect((await refresh(identity, clientId, connection.refreshToken)).body.error).toBe('invalid_grant');
    expect(await listStatus(connection.token)).toBe(401);
    // It is no theft, so nobody is mailed about one.
    expect([await findReasons(), await countReports()]).toEqual([['revoked by the client'], before]);
  },
);
