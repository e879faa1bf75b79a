import { type SeenCaller, startOauthUpstream } from './oauth-upstream.js';
import { useMounts } from './platform.js';
import { createPeople } from './signing-in.js';
import type { Seen } from './stateful-server.js';

/* How authorization servers know the platform as a client that nobody has registered. */

const PLATFORM = 'https://platform.example';
const DOCUMENT = `${PLATFORM}/oauth2/upstream/client.json`;
const { identity, session, mounts } = await useMounts({ PUBLIC_URL: PLATFORM });
const people = createPeople(identity, session);

test('MCP-67 an authorization server that reads client id metadata documents is shown that of the platform, and registers nothing', async () => {
  const upstream = await startOauthUpstream(`${PLATFORM}/oauth2/upstream/callback`, {
    fetchDocument: (url) => fetch(url.replace(PLATFORM, identity.url)),
  });
  try {
    const id = await people.mount(upstream.url, upstream);
    const ada = await people.createPerson('ada');
    expect(await people.signIn(ada, id, upstream)).toBe(`/account/services/${id}?signIn=connected`);
    const seen = async () => (JSON.parse(await ada.agent.getText()) as Seen<SeenCaller>).caller;
    expect(await seen()).toEqual({ sub: 'ada', client: DOCUMENT });
    expect(upstream.state.registrations).toBe(0);
    expect(upstream.state.requests.map((request) => request.get('client_id'))).toEqual([DOCUMENT, DOCUMENT]);
    // It renews tokens as the same client.
    identity.advance(290_000);
    expect(await seen()).toEqual({ sub: 'ada', client: DOCUMENT });
    expect(upstream.state.refreshes).toContain('ada');
    expect((await mounts.get(id)).credential.clientId).toBe(null);
  } finally {
    await upstream.close();
  }
});
