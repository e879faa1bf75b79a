import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { createAgentApplication } from './applications.js';
import { type Browser, consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

/** Starts identity with an application of an agent, and a browser in which the administrator is signed in. */
export async function startWithApplication(environment: NodeJS.ProcessEnv = {}) {
  const identity: IdentityUnderTest = await startIdentity({ environment });
  const session = await identity.login();
  const scopes = ['user:read', 'crawl:read', 'crawl:write'];
  const clientId = await createAgentApplication(identity, session, { scopes });
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
    const answer = await exchangeCode(identity, authorization, code);
    const token = answer.body.access_token as string;
    return { authorization, target, code, answer, token, refreshToken: answer.body.refresh_token as string };
  }
  return { identity, session, clientId, browser, connect, close: () => identity.close() };
}
