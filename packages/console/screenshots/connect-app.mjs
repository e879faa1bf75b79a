import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Of the machine that the browser runs on; the port is another one each time. */
const HOST = 'http://127.0.0.1';

/** Starts what listens for the answer on the application's side. */
async function listen() {
  const server = createServer((_request, response) => response.end('Signed in. You can close this tab.'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, redirectUri: `${HOST}:${server.address().port}/callback` };
}

/** The body that registers an application that signs in with a browser. */
export const appFields = (name, scopes) => ({
  name,
  grantTypes: ['authorization_code', 'refresh_token'],
  authMethod: 'none',
  redirectUris: [`${HOST}/callback`],
  scopes,
});

/**
 * Connects an application for the person who is signed in on the page, as an agent does: it asks for access, the person
 * allows it, and the agent obtains its first tokens.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ url: string, clientId: string, scopes: readonly string[] }} app
 */
export async function connectApp(page, { url, clientId, scopes }) {
  const { server, redirectUri } = await listen();
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    resource: `${url}/mcp`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: randomBytes(8).toString('hex'),
  });
  await page.goto(`${url}/oauth2/authorize?${query}`);
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForURL(`${redirectUri}**`);
  server.closeAllConnections();
  server.close();
  const response = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: new URL(page.url()).searchParams.get('code') ?? '',
      code_verifier: verifier,
      client_id: clientId,
      redirect_uri: redirectUri,
      resource: `${url}/mcp`,
    }),
  });
  if (!response.ok)
    throw new Error(`The token endpoint answered ${response.status}: ${await response.text()}`);
  const { access_token: accessToken, refresh_token: refreshToken } = await response.json();
  return { accessToken: String(accessToken), refreshToken: String(refreshToken) };
}
