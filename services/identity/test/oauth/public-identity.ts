import { findFreePort } from '@platform/embedded';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { type Browser, createBrowser } from './flow.js';

export interface PublicIdentity {
  readonly identity: IdentityUnderTest;
  /** A browser in which the administrator is signed in. */
  readonly browser: Browser;
}

/** Starts identity at the address that its metadata names, for clients that find everything themselves. */
export async function startPublicIdentity(environment: NodeJS.ProcessEnv = {}): Promise<PublicIdentity> {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const identity = await startIdentity({ port, environment: { ...environment, PUBLIC_URL: publicUrl } });
  const browser = createBrowser(identity, publicUrl);
  await browser.signIn();
  return { identity, browser };
}
