import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensureInspector } from '@platform/testing';
import { consentAt } from './flow.js';
import { type PublicIdentity, startPublicIdentity } from './public-identity.js';

const TIMEOUT_MS = 60_000;

describeWith('inspector', 'the MCP Inspector', () => {
  let running: PublicIdentity;
  let home: string;
  beforeAll(async () => {
    running = await startPublicIdentity({ OAUTH_REGISTRATION: 'on' });
    home = await mkdtemp(join(tmpdir(), 'inspector-'));
  });
  afterAll(async () => {
    await running.identity.close();
    await rm(home, { recursive: true, force: true });
  });

  /** Runs its command line, and opens the address that it prints as a browser does. @returns what it prints. */
  async function callTool(name: string, ...options: readonly string[]): Promise<string> {
    const { identity, browser } = running;
    const program = await ensureInspector();
    const callback = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
    const what = ['--method', 'tools/call', '--tool-name', name, '--callback-url', callback];
    const args = [
      program,
      '--cli',
      `${identity.url}/mcp`,
      '--transport',
      'http',
      '--format',
      'json',
      ...what,
    ];
    // Without a terminal, it signs in only when it may open a browser.
    const environment = {
      PATH: process.env['PATH'],
      HOME: home,
      MCP_AUTO_OPEN_ENABLED: 'true',
      BROWSER: 'true',
    };
    return new Promise((resolve, reject) => {
      const child = execFile(
        process.execPath,
        [...args, ...options],
        { env: environment, timeout: TIMEOUT_MS },
        (error, stdout) => {
          if (error) reject(new Error('the Inspector failed', { cause: error }));
          else resolve(stdout);
        },
      );
      let printed = '';
      let isOpened = false;
      child.stderr?.on('data', (chunk: string) => {
        printed += chunk;
        const address = /(http\S+\/oauth2\/authorize\?\S+)\s/.exec(printed)?.[1];
        if (address === undefined || isOpened) return;
        isOpened = true;
        consentAt(browser, address)
          .then((target) => fetch(target))
          .catch((error: Error) => {
            child.kill();
            reject(error);
          });
      });
    });
  }

  test.each(['legacy', 'modern'])('signs in from nothing and calls a tool: %s protocol', async (era) => {
    const answer = JSON.parse(await callTool('whoami', '--protocol-era', era, '--relogin'));
    expect(answer.result.structuredContent).toMatchObject({
      user: { email: 'admin@example.com' },
      credential: { kind: 'oauth', scopes: ['user:read', 'kb:read', 'crawl:read'] },
    });
  });
});
