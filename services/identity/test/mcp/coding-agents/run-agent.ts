import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consentAt } from '../../oauth/flow.js';
import { startPublicIdentity } from '../../oauth/public-identity.js';
import { startFakeModel } from './fake-model.js';

const TIMEOUT_MS = 120_000;
/** Terminals print the address as a link too, between control characters. */
const AUTHORIZATION = /https?:\/\/[\w.:]+\/oauth2\/authorize\?(?:(?!http:)[\w.%=&~+-])+(?![\w.%=&~+-])/;

/** Starts what a coding agent needs: identity, a model, and its own home. */
export async function startAgentHome() {
  // Without the internet, no document of a client can be fetched, so the programs register themselves.
  const { identity, browser } = await startPublicIdentity({
    OAUTH_REGISTRATION: 'on',
    OAUTH_CLIENT_HOSTS: 'none',
  });
  const model = await startFakeModel();
  const home = await mkdtemp(join(tmpdir(), 'agent-'));
  await mkdir(join(home, '.codex'));

  /** Runs a program, and opens the address that it prints as a browser does. @returns what it prints. */
  async function run(program: string, args: readonly string[], environment: object = {}): Promise<string> {
    const { PATH } = process.env;
    const child = spawn(program, args, {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      env: { PATH, HOME: home, CODEX_HOME: join(home, '.codex'), BROWSER: 'true', ...environment },
    });
    let printed = '';
    let opened: Promise<unknown> | undefined;
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = AUTHORIZATION.exec(printed);
      // The address is complete when something follows it.
      if (!found || opened || found.index + found[0].length === printed.length) return;
      opened = consentAt(browser, found[0]).then((target) => fetch(target));
      opened.catch(() => child.kill());
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    const code = await new Promise((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
    });
    await opened;
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}: ${printed}`);
    return printed;
  }

  /** Expects that the tool was called, and that the call belongs to the application and its member. */
  async function expectCall(printed: string, name: RegExp): Promise<void> {
    expect(printed).toContain('admin@example.com');
    expect(printed).toMatch(/kind[\\":]+oauth/);
    const { body } = await identity.call('GET', '/api/v1/connected-apps', { token: await identity.login() });
    expect(body.data).toMatchObject([{ client: { kind: 'registered', name: expect.stringMatching(name) } }]);
  }

  return {
    modelUrl: model.url,
    endpoint: `${identity.url}/mcp`,
    run,
    expectCall,
    async close(): Promise<void> {
      await identity.close();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
