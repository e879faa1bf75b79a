import { findFreePort } from '@platform/embedded';
import { startIdentity } from '../identity.js';
import { createBrowser } from './flow.js';

/**
 * Starts identity at the address that its metadata names, for clients that find everything themselves, and a browser in
 * which the administrator is signed in.
 */
export async function startPublicIdentity(environment: NodeJS.ProcessEnv = {}) {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const identity = await startIdentity({ port, environment: { ...environment, PUBLIC_URL: publicUrl } });
  const browser = createBrowser(identity, publicUrl);
  await browser.signIn();
  return { identity, browser };
}
