import type { AdminSession } from '../admin-session.js';
import { assertOk, changeState, readState } from './state.js';

const ACCOUNTS = '/api/v1/service-accounts';
const EXPIRY_DAYS = 365;

export interface DemoTokens {
  readonly readToken: string;
  readonly workToken: string;
}

/** Returns whether crawl accepts the token: a request with a body that is not valid changes nothing. */
async function isAccepted(crawlUrl: string, method: string, path: string, token: string): Promise<boolean> {
  const response = await fetch(`${crawlUrl}/api/v1/crawlingManager${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: '{}' }),
  });
  return response.status !== 401 && response.status !== 403;
}

/**
 * Returns the tokens of the demo's programs, each with the one scope that it needs. They belong to a service account, as
 * those of a real worker should; it is replaced when one of them is no longer accepted.
 *
 * @throws Error with the platform's response.
 */
export async function ensureTokens(
  { call }: AdminSession,
  { dataDir, crawlUrl }: { readonly dataDir: string; readonly crawlUrl: string },
): Promise<DemoTokens> {
  const { accountId, readToken, workToken } = await readState(dataDir);
  if (
    readToken !== undefined &&
    workToken !== undefined &&
    (await isAccepted(crawlUrl, 'GET', '/events?limit=1', readToken)) &&
    (await isAccepted(crawlUrl, 'POST', '/work/claim', workToken))
  )
    return { readToken, workToken };
  if (accountId !== undefined) {
    const deleted = await call('DELETE', `${ACCOUNTS}/${accountId}`);
    if (deleted.status !== 404) await assertOk(deleted);
  }
  const created = await assertOk(await call('POST', ACCOUNTS, { name: 'Demo', role: 'admin' }));
  const { serviceAccount } = (await created.json()) as { serviceAccount: { id: string } };
  await changeState(dataDir, { accountId: serviceAccount.id });
  const createToken = async (name: string, scope: string, bounds?: object): Promise<string> => {
    const body = { name, scopes: [scope], expiryDays: EXPIRY_DAYS, ...(bounds && { bounds }) };
    const response = await assertOk(await call('POST', `${ACCOUNTS}/${serviceAccount.id}/tokens`, body));
    return ((await response.json()) as { token: { accessToken: string } }).token.accessToken;
  };
  const tokens = {
    readToken: await createToken('demo-knowledge', 'crawl:read'),
    workToken: await createToken('demo-connector', 'crawl:work', { connectors: ['files_1', 'code_1'] }),
  };
  await changeState(dataDir, tokens);
  return tokens;
}
