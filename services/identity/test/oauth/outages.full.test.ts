import { type Answer, callUrl, type CallOptions } from '@platform/testing';
import { start, startIdentity } from '../identity.js';
import { createAgentApplication, createApplication, requestToken } from './applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  openConsent,
  postForm,
  refresh,
  REDIRECT_URI,
} from './flow.js';

/*
 * Statements that time out: every endpoint of the authorization server asks its client to try again, and whoever does gets
 * what it came for.
 */

const environment = { OAUTH_CLIENT_HOSTS: 'agents.example', OAUTH_REGISTRATION: 'on' };
const fetchDocument: typeof fetch = async (input) => {
  const url = input instanceof Request ? input.url : String(input);
  return Response.json({
    client_id: url,
    client_name: 'Agent',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
  });
};
const identity = await startIdentity({ environment, fetchDocument });
const hurried = await start(
  identity.databaseUrl,
  { ...environment, DATABASE_TIMEOUT_MS: '1000' },
  { fetchDocument },
);
/** A replica on the same database whose statements time out sooner. */
const replica = {
  ...identity,
  url: hurried.url,
  call: (method: string, path: string, options?: CallOptions) => callUrl(hurried.url + path, method, options),
};
afterAll(async () => {
  await hurried.shutdown.run('test done');
  await identity.close();
});

const session = await identity.login();
const clientId = await createAgentApplication(identity, session);
const service = await createApplication(identity, session);
const { application } = service;
const browser = createBrowser(identity);
await browser.signIn();

type Response = Pick<Answer, 'status' | 'headers' | 'text'>;
interface Request {
  readonly send: () => Promise<Response>;
  readonly expected: number;
}

async function getCode(authorization: ReturnType<typeof createAuthorization>): Promise<string> {
  return (await consent(browser, authorization)).searchParams.get('code') ?? '';
}

async function connect() {
  const authorization = createAuthorization(clientId);
  return (await exchangeCode(identity, authorization, await getCode(authorization))).body as {
    access_token: string;
    refresh_token: string;
  };
}

/** An authorization is resumed once; whoever gets the 503 starts again from the application. */
const RESUME = 'resume after the consent';
let documents = 0;

/** Prepares a request to each endpoint. */
async function prepare(): Promise<Record<string, Request>> {
  const openBrowser = () => createBrowser(replica, undefined, new Map(browser.cookies));
  const code = createAuthorization(clientId);
  const codeValue = await getCode(code);
  const [refreshing, ending, revoking] = [await connect(), await connect(), await connect()];
  const authorization = createAuthorization(clientId);
  const [resuming, deciding] = [openBrowser(), openBrowser()];
  const { path, csrf } = await openConsent(resuming, createAuthorization(clientId));
  const allowed = await resuming.post(path, { csrf, decision: 'allow', scope: ['user:read'] });
  const resumed = resuming.getLocation(allowed);
  const undecided = await openConsent(deciding, createAuthorization(clientId));
  const documentId = `https://agents.example/${++documents}.json`;
  const revoke = (token: string) => postForm(replica, 'revoke', { client_id: clientId, token });
  return {
    authorize: { send: () => openBrowser().get(authorization.url), expected: 303 },
    'authorize a client with a document': {
      send: () => createBrowser(replica).get(createAuthorization(documentId).url),
      expected: 303,
    },
    'show the consent page': { send: () => deciding.get(undecided.path), expected: 200 },
    [RESUME]: { send: () => resuming.get(resumed), expected: 303 },
    'exchange a code': { send: () => exchangeCode(replica, code, codeValue), expected: 200 },
    refresh: { send: () => refresh(replica, clientId, refreshing.refresh_token), expected: 200 },
    'client credentials': {
      send: () => requestToken(replica, { ...application, clientSecret: service.clientSecret }),
      expected: 200,
    },
    'revoke a refresh token': { send: () => revoke(ending.refresh_token), expected: 200 },
    'revoke an access token': { send: () => revoke(revoking.access_token), expected: 200 },
    register: {
      send: () =>
        replica.call('POST', '/oauth2/register', {
          body: { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' },
        }),
      expected: 201,
    },
  };
}

const sendAll = (requests: Record<string, Request>): Promise<[string, Response, number][]> =>
  Promise.all(
    Object.entries(requests).map(async ([name, { send, expected }]): Promise<[string, Response, number]> => [
      name,
      await send(),
      expected,
    ]),
  );

test.each([
  'oauth_clients',
  'oauth_client_secrets',
  'oauth_artifacts',
  'oauth_grants',
  'oauth_access_tokens',
  'users',
  'rate_limits',
  'connection_policies',
])(
  'OAUTH-25: while %s is locked, requests fail with 503 and a time to retry, and then succeed',
  async (table) => {
    const requests = await prepare();
    const holder = await identity.db.connect();
    await holder.query('begin');
    await holder.query(`lock table ${table} in access exclusive mode`);
    let refused: Awaited<ReturnType<typeof sendAll>>;
    try {
      refused = await sendAll(requests);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    const failed = refused.filter(([, { status }, expected]) => status !== expected);
    expect(failed).not.toEqual([]);
    for (const [name, { status, headers, text }] of failed)
      expect([name, status, headers.get('retry-after'), text]).toEqual([
        name,
        503,
        '1',
        expect.stringMatching(/temporarily[_ ]unavailable/),
      ]);
    // A code or token that was used is not sent again.
    const repeatable = failed.filter(([name]) => name !== RESUME);
    const again = Object.fromEntries(repeatable.map(([name]) => [name, requests[name] as Request]));
    const answers = await sendAll(again);
    expect(answers.map(([name, { status }]) => [name, status])).toEqual(
      answers.map(([name, , expected]) => [name, expected]),
    );
  },
  120_000,
);
