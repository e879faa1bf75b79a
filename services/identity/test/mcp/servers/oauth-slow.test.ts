import { waitFor } from '@platform/testing';
import { type OauthUpstream, type SeenCaller, startOauthUpstream } from './oauth-upstream.js';
import { useMounts } from './platform.js';
import { createPeople } from './signing-in.js';
import type { Seen } from './stateful-server.js';

/* MCP-66: what an authorization server that is slow or down costs, and whom. */

// A server can have eight calls at the same time, and an account four of these.
const { identity, session } = await useMounts({ MCP_SERVER_CALLS: '64' });
const people = createPeople(identity, session);
let upstream: OauthUpstream;
let id = '';
beforeEach(async () => {
  upstream = await startOauthUpstream('http://127.0.0.1:8080/oauth2/upstream/callback');
  id = await people.mount(upstream.url, upstream);
});
afterEach(() => upstream.close());

const createSignedIn = async (subject: string) => {
  const person = await people.createPerson(subject);
  await people.signIn(person, id, upstream);
  return person;
};
const BUSY = 'cannot be called with your account at the moment';
/** Of calls that wait for renewals, and of calls in progress: which is reached first depends on when the calls arrive. */
const LIMITED = /cannot be called with your account at the moment|Too many calls to the server/;

test('MCP-66 an authorization server that never answers holds up nobody whose tokens last', async () => {
  const waiting = [await createSignedIn('ada'), await createSignedIn('ben'), await createSignedIn('cleo')];
  identity.advance(400_000);
  const dora = await createSignedIn('dora');
  expect(await dora.agent.getText()).toContain('dora');
  upstream.state.hangs = true;
  let answered = 0;
  const texts = Promise.all(
    waiting.flatMap(({ agent }) =>
      Array.from({ length: 4 }, () => agent.getText().finally(() => (answered += 1))),
    ),
  );
  await waitFor(() => upstream.state.hung > 0 && answered >= 8, { what: 'the calls that wait' });
  for (let count = 0; count < 2; count += 1) {
    const seen = await Promise.all(Array.from({ length: 3 }, () => dora.agent.getText()));
    for (const text of seen) expect((JSON.parse(text) as Seen<SeenCaller>).caller.sub).toBe('dora');
  }
  // The others are still waiting.
  expect(answered).toBeLessThan(12);
  for (const text of await texts) expect(text).toMatch(LIMITED);
});

test('MCP-66 an authorization server that fails in a row is asked now and then only, until it answers again', async () => {
  const person = await createSignedIn('ada');
  identity.advance(400_000);
  upstream.state.failsTokens = true;
  const before = upstream.state.failed;
  for (let count = 0; count < 10; count += 1) expect(await person.agent.getText()).toContain(BUSY);
  expect(upstream.state.failed - before).toBe(5);
  upstream.state.failsTokens = false;
  expect(await person.agent.getText()).toContain(BUSY);
  identity.advance(6_000);
  expect(await person.agent.getText()).toContain('ada');
});

test('MCP-66 an account that has to sign in again stops nobody from renewing', async () => {
  const [ada, ben] = [await createSignedIn('ada'), await createSignedIn('ben')];
  upstream.state.unknown = 'ada';
  identity.advance(400_000);
  for (let count = 0; count < 8; count += 1)
    expect(await ada.agent.getText()).toContain('does not accept your account there any more');
  expect(await ben.agent.getText()).toContain('ben');
});
