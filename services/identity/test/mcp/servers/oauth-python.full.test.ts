import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createSecretBox, encryptionKeys } from '@platform/service-kit';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensurePythonMcp, waitFor } from '@platform/testing';
import { ownSecretContext } from '../../../src/mcp/servers/upstream/credentials.js';
import { parseGrant } from '../../../src/mcp/servers/upstream/oauth/grant.js';
import { encryptionKeys as keys } from '../../identity.js';
import { useMounts } from './platform.js';
import { createPeople } from './signing-in.js';

/* Servers of others at which people sign in: one of FastMCP, and one of the official Python SDK. */

const CALLBACK = 'http://127.0.0.1:8080/oauth2/upstream/callback';
const { identity, session } = await useMounts();
const people = createPeople(identity, session);
const box = createSecretBox(encryptionKeys.parse(keys) ?? []);

/** The authorization server of FastMCP signs in whoever asks, without a page. */
const authorization = {
  become: () => undefined,
  async authorize(url: string): Promise<URL> {
    const response = await fetch(url, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (!location?.startsWith(CALLBACK))
      throw new Error(`${response.status} at ${url}: ${await response.text()}`);
    return new URL(location);
  },
};

async function findTokens(person: { readonly id: string }, id: string) {
  const { rows } = await identity.db.query<{ sealed: string }>(
    'select secret_sealed as sealed from mcp_credentials where server_id = $1 and account_id = $2',
    [id, person.id],
  );
  return parseGrant(box.open(rows[0]?.sealed ?? '', ownSecretContext(id, person.id))).tokens;
}
const closing: (() => Promise<unknown>)[] = [];
const stop = async (): Promise<void> => {
  for (const close of closing.splice(0)) await close();
};
const toDigest = (token: string) => createHash('sha256').update(token).digest('hex');

describeWith('python-mcp', 'servers of Python at which people sign in', () => {
  test.each(['fastmcp', 'sdk'])('MCP-86, MCP-91 people sign in at a server of %s, call it as themselves, leave, and come back after it has forgotten all', async (kind) => {
    const port = await findFreePort();
    const program = join(import.meta.dirname, 'fixtures/python-oauth-server.py');
    const python = await ensurePythonMcp();
    const url = `http://127.0.0.1:${port}/mcp`;
    const start = async () => {
      const server = spawn(python, [program, kind, String(port)], { stdio: 'ignore' });
      closing.push(async () => {
        const exited = once(server, 'exit');
        server.kill('SIGKILL');
        await exited;
      });
      await waitFor(async () => (await fetch(url)).status === 401, { what: 'the server', patienceMs: 30_000 });
    };
    const refuses = async (token: string) =>
      (await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status === 401;
    try {
      await start();
      const id = await people.mount(url, authorization, { approve: { whoami: 'kb:read' } });
      const [ada, ben] = [await people.createPerson('ada'), await people.createPerson('ben')];
      const see = (person: typeof ada) => person.agent.getText('wiki__whoami', {});
      for (const person of [ada, ben]) await people.signIn(person, id, authorization);
      for (const person of [ada, ben])
        expect(await see(person)).toBe(toDigest((await findTokens(person, id)).access_token));

      const before = await findTokens(ada, id);
      identity.advance(3_590_000);
      const seen = await Promise.all(Array.from({ length: 10 }, () => see(ada)));
      const renewed = await findTokens(ada, id);
      expect(new Set(seen)).toEqual(new Set([toDigest(renewed.access_token)]));
      expect(renewed.refresh_token).not.toBe(before.refresh_token);
      expect(await refuses(before.access_token)).toBe(true);
      expect(await refuses(renewed.access_token)).toBe(false);

      await ada.browser.signIn(ada);
      const left = await ada.browser.call('DELETE', `/api/v1/mcp-servers/${id}/my-credential`);
      expect(left.status).toBe(200);
      await waitFor(() => refuses(renewed.access_token), { what: 'the revocation', patienceMs: 30_000 });
      expect(await see(ada)).toContain('have not connected yet');
      expect(await see(ben)).toBe(toDigest((await findTokens(ben, id)).access_token));

      // It has forgotten all clients and tokens when it starts again, and shows browsers a page that says so.
      await stop();
      await start();
      expect(await see(ben)).toContain('does not accept your account there any more');
      await ben.browser.signIn(ben);
      await expect(people.signIn(ben, id, authorization)).rejects.toThrow('400');
      await people.signIn(ben, id, authorization);
      expect(await see(ben)).toBe(toDigest((await findTokens(ben, id)).access_token));
    } finally {
      await stop();
    }
  });
}); // oxfmt-ignore
