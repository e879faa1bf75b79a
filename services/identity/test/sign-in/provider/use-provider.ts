import { type IdentityUnderTest, type Member, startIdentity } from '../../identity.js';
import { environment, CALLBACK_URL, saveProvider, verifyDomain } from './flow.js';
import { type ForeignProvider, startForeignProvider } from './foreign-provider.js';

/** Somebody whom the provider knows. */
export interface Person {
  readonly subject: string;
  readonly email: string;
}

/** Gives the tests of a file an identity whose organisation has verified example.com, and a provider for it. */
export function useProvider(settings: NodeJS.ProcessEnv = {}) {
  let identity: IdentityUnderTest;
  let foreign: ForeignProvider;
  let session: string;
  let people = 0;

  beforeAll(async () => {
    foreign = await startForeignProvider(CALLBACK_URL);
    identity = await startIdentity({ environment: { ...environment, ...settings } });
    session = await identity.login();
    await verifyDomain(identity.databaseUrl, identity.orgId, 'example.com');
  });
  afterAll(async () => {
    await identity?.close();
    await foreign?.close();
  });

  function createPerson(claims: object = {}): Person {
    const subject = `subject-${++people}`;
    const email = `${subject}@example.com`;
    foreign.people.set(subject, { email, email_verified: true, name: 'Grace Hopper', ...claims });
    return { subject, email };
  }

  return {
    get identity() {
      return identity;
    },
    get foreign() {
      return foreign;
    },
    /** The session of the administrator. */
    get session() {
      return session;
    },
    save: (fields: object = {}) => saveProvider(identity, session, { issuer: foreign.issuer, ...fields }),
    createPerson,
    /** Creates a member, and the same person at the provider. */
    async createMember(claims: object = {}): Promise<Member & Person> {
      const member = await identity.createMember(session);
      const { subject } = createPerson({ email: member.email, ...claims });
      return { ...member, subject };
    },
  };
}
