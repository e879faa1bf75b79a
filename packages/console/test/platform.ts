import { randomUUID } from 'node:crypto';
import { testPlatform, withAdmin } from '@platform/testing';

export interface Person {
  readonly email: string;
  readonly password: string;
}

/** An organisation of the shared platform. */
export interface Platform {
  readonly url: string;
  readonly admin: Person;
  /** Calls the API with the session of a person; the administrator's by default. */
  call<Body>(method: string, path: string, body?: object, as?: Person): Promise<Body>;
  createMember(name: string): Promise<Person>;
  /** Makes the sessions of a person as old as if they had been opened an hour ago. */
  ageSessions(person: Person): Promise<void>;
  /** Makes the invitations of a name six days old. */
  ageInvitations(fullName: string): Promise<void>;
}

/** Creates an organisation, with an SMTP server that accepts every mail. */
export async function createOrganisation(): Promise<Platform> {
  const { url, smtpPort, identityDatabaseUrl, organisation } = await testPlatform();
  const { admin } = await organisation();
  const client = createClient(url, admin);
  await client.call('POST', '/api/v1/configurationManager/smtpConfig', {
    host: '127.0.0.1',
    port: smtpPort,
    fromEmail: 'noreply@example.com',
    tls: 'none',
  });
  return {
    ...client,
    url,
    admin,
    ageInvitations: (fullName) =>
      withAdmin(identityDatabaseUrl, async (database) => {
        await database.query(
          `update users set created_at = created_at - interval '6 days' where full_name = $1 and password_hash is null
             and org_id = (select org_id from users where email = $2 and removed_at is null)`,
          [fullName, admin.email],
        );
      }),
    ageSessions: ({ email }) =>
      withAdmin(identityDatabaseUrl, async (database) => {
        await database.query(
          `update sessions set created_at = created_at - interval '1 hour', authenticated_at = null
           where user_id = (select id from users where email = $1 and removed_at is null)`,
          [email],
        );
      }),
  };
}

function createClient(url: string, admin: Person): Pick<Platform, 'call' | 'createMember'> {
  const sessions = new Map<string, string>();
  // An address belongs to one member of the whole platform.
  const domain = `${randomUUID().slice(0, 8)}.example.com`;

  async function send(method: string, path: string, body: object | undefined, token = ''): Promise<Response> {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  }

  async function getSession(person: Person): Promise<string> {
    const known = sessions.get(person.email);
    if (known !== undefined) return known;
    const response = await send('POST', '/api/v1/auth/login', person);
    const { accessToken } = (await response.json()) as { accessToken: string };
    sessions.set(person.email, accessToken);
    return accessToken;
  }

  async function call<Body>(method: string, path: string, body?: object, as = admin): Promise<Body> {
    const response = await send(method, path, body, await getSession(as));
    return (response.status === 204 ? undefined : await response.json()) as Body;
  }

  return {
    call,
    async createMember(name) {
      const person = {
        email: `${name.toLowerCase().replaceAll(' ', '.')}@${domain}`,
        password: admin.password,
      };
      await call('POST', '/api/v1/users', { ...person, fullName: name });
      return person;
    },
  };
}
