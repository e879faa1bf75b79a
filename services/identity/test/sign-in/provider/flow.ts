import { type Clock, createLogger, createShutdown, systemClock } from '@platform/service-kit';
import type { Answer } from '@platform/testing';
import { verifyDomainByCommand } from '../../../src/sign-in/identity-provider/commands.js';
import type { Prisma } from '../../../src/prisma.js';
import { openResources } from '../../../src/resources.js';
import { createHttpBrowser, fieldIn, type HttpBrowser } from '../../browser.js';
import { type IdentityUnderTest } from '../../identity.js';
import { client, type ForeignProvider } from './foreign-provider.js';

/** Below the default of PUBLIC_URL: the provider of each organisation sends browsers back to a separate address. */
export const CALLBACK_URL = 'http://127.0.0.1:8080/sign-in/provider/callback';
export const SETTINGS = '/api/v1/organisation/identity-provider';
export const environment = { IDENTITY_PROVIDER_ALLOWED_TARGETS: '127.0.0.0/8' };

/** Runs what a command of the operator does, over a separate connection. */
export async function asOperator(
  databaseUrl: string,
  run: (deps: { readonly prisma: Prisma; readonly clock: Clock }) => Promise<unknown>,
): Promise<void> {
  const log = createLogger('test', 'fatal');
  const shutdown = createShutdown(log);
  const options = { databaseUrl, maxConnections: 1, timeoutMs: 5_000, log, shutdown };
  const { prisma } = openResources(options);
  try {
    await run({ prisma, clock: systemClock });
  } finally {
    await shutdown.run('the command has ended');
  }
}

export const verifyDomain = (databaseUrl: string, orgId: string, domain: string): Promise<void> =>
  asOperator(databaseUrl, (deps) => verifyDomainByCommand(deps, orgId, domain));

/** Sets the organisation's provider up. */
export const saveProvider = (
  identity: Pick<IdentityUnderTest, 'call'>,
  session: string,
  fields: object,
): Promise<Answer> =>
  identity.call('PUT', SETTINGS, {
    token: session,
    body: { ...client, ...fields },
  });

/** Opens the sign-in with the organisation's provider. @returns the page that leads to the provider, and its address. */
export async function beginSignIn(
  browser: HttpBrowser,
  email: string,
  returnTo = '/',
): Promise<{ page: Answer; url: string }> {
  const form = await browser.open(`/sign-in/provider?${new URLSearchParams({ returnTo }).toString()}`);
  const page = await browser.post('/sign-in/provider', { csrf: fieldIn(form, 'csrf'), returnTo, email });
  const url = /content="0;url=([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return { page, url };
}

/** Brings the browser back with what the provider answered. */
export const comeBack = (browser: HttpBrowser, { pathname, search }: URL): Promise<Answer> =>
  browser.open(pathname + search, { 'sec-fetch-site': 'cross-site' });

export interface SignedIn {
  readonly browser: HttpBrowser;
  readonly answer: Answer;
}

/** Signs a person in with the provider, in a separate browser. */
export async function signIn(
  url: string,
  foreign: ForeignProvider,
  person: {
    readonly subject: string;
    readonly amr?: string[];
    readonly acr?: string;
    readonly email: string;
  },
  returnTo = '/',
): Promise<SignedIn> {
  const browser = createHttpBrowser(url);
  const { email, ...who } = person;
  const begun = await beginSignIn(browser, email, returnTo);
  foreign.signsIn = who;
  return { browser, answer: await comeBack(browser, await foreign.authorize(begun.url)) };
}

/** Returns who is signed in to the browser. */
export async function whoIs(
  browser: HttpBrowser,
): Promise<{ id: string; email: string; role: string } | undefined> {
  const { status, body } = await browser.call('GET', '/api/v1/users/me');
  return status === 200 ? (body as { user: { id: string; email: string; role: string } }).user : undefined;
}
