import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startUpstream, type Upstream } from './upstream.js';

/** Gives the tests of a file an identity that may call local servers, and each test an upstream server of its own. */
export function useMounts() {
  let identity: IdentityUnderTest;
  let session: string;
  let upstream: Upstream;
  let mounts: ReturnType<typeof createMounts>;

  beforeAll(async () => {
    identity = await startIdentity({ environment: ALLOW_LOCAL });
    session = await identity.login();
    mounts = createMounts(identity, session);
  });
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(async () => {
    for (const { id } of (await mounts.call('GET', '?limit=100')).body.data as { id: string }[])
      await mounts.call('DELETE', `/${id}`);
    await upstream.close();
  });
  afterAll(() => identity.close());

  return {
    get identity() {
      return identity;
    },
    get session() {
      return session;
    },
    /** The upstream server; a test that replaces it closes the previous one. */
    get upstream() {
      return upstream;
    },
    set upstream(replacement: Upstream) {
      upstream = replacement;
    },
    get mounts() {
      return mounts;
    },
    createAgentWith: async (...scopes: string[]) =>
      createAgent(identity, (await identity.createToken(session, { scopes })).accessToken),
  };
}
