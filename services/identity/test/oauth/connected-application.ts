import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { createApplication } from './applications.js';
import { type Browser, consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

/** Starts identity with an application of an agent, and a browser in which the administrator is signed in. */
export async function startWithApplication() {
  const identity: IdentityUnderTest = await startIdentity();
  const session = await identity.login();
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['user:read', 'crawl:read', 'crawl:write'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
  });
  const { clientId } = application;
  const browser: Browser = createBrowser(identity);
  await browser.signIn();

  /** Connects the application, and returns what each step answered. */
  async function connect(
    form?: Record<string, string | string[]>,
    fields?: Readonly<Record<string, string | undefined>>,
  ) {
    const authorization = createAuthorization(clientId, fields);
    const target = await consent(browser, authorization, form);
    const code = target.searchParams.get('code') ?? '';
    return { authorization, target, code, answer: await exchangeCode(identity, authorization, code) };
  }
  return { identity, session, clientId, browser, connect, close: () => identity.close() };
}
