import type { Fixture } from '../runner/fixture.js';
import type { Core, NodeServer } from './process.js';
import { setUpService } from './service.js';

const admin = { email: 'admin@example.com', password: 'benchmark-password' };
const CREATE_CONCURRENCY = 16;
const TOKENS_PATH = '/api/v1/personal-access-tokens';

/** Sends one request. @throws Error when the answer is not successful. @returns the body of the answer. */
async function send<T>(url: string, method: string, token: string | undefined, body?: object): Promise<T> {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Calls `create` for each item, several at a time. @returns the results, in no particular order. */
export async function createMany<I, T>(items: readonly I[], create: (item: I) => Promise<T>): Promise<T[]> {
  const left = [...items];
  const results: T[] = [];
  const createSome = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) results.push(await create(item));
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, createSome));
  return results;
}

/** An identity service with its own database, and the credentials of the measurements. */
export type BenchIdentity = Awaited<ReturnType<typeof startIdentity>>;

/** The `ENCRYPTION_KEYS` of every service. */
export const ENCRYPTION_KEYS = `bench:${Buffer.alloc(32, 1).toString('base64')}`;

/**
 * Starts the built service as in production, by default on the server's core.
 *
 * @param more - additional environment variables.
 */
export async function startIdentity(
  fixture: Fixture,
  database: string,
  more: NodeJS.ProcessEnv = {},
  core?: Core,
) {
  const service = await setUpService(fixture, 'identity', database, {
    ENCRYPTION_KEYS,
    BOOTSTRAP_ADMIN_EMAIL: admin.email,
    BOOTSTRAP_ADMIN_PASSWORD: admin.password,
    // As in its image.
    MALLOC_ARENA_MAX: '2',
    ...more,
  });
  const running: NodeServer = fixture.keep(await service.start(core));
  const login = async (credentials: typeof admin) => {
    const url = `${running.url}/api/v1/auth/login`;
    return (await send<{ accessToken: string }>(url, 'POST', undefined, credentials)).accessToken;
  };
  const session = await login(admin);
  let organisations = 1;
  return {
    ...running,
    databaseUrl: service.databaseUrl,
    session,
    /** Sends a request as the administrator. */
    call: <T>(method: string, path: string, body?: object): Promise<T> =>
      send<T>(running.url + path, method, session, body),
    /** Creates an organisation. @returns its administrator's session. */
    async createOrganisation(): Promise<string> {
      const email = `admin-${(organisations += 1)}@example.com`;
      const args = ['create-organisation', '--name', 'Another', '--admin-email', email];
      service.runCommand(args, { ADMIN_PASSWORD: admin.password });
      return login({ ...admin, email });
    },
    /** Creates personal access tokens, by default of the administrator. */
    createTokens: (
      count: number,
      {
        path = TOKENS_PATH,
        ...fields
      }: {
        path?: string;
        scopes: readonly string[];
        allowList?: readonly string[];
        bounds?: Readonly<Record<string, readonly string[]>>;
      },
    ): Promise<string[]> =>
      createMany(
        Array.from({ length: count }, (_value, index) => index),
        async () => {
          const body = { name: 'bench', ...fields };
          const { token } = await send<{ token: { accessToken: string } }>(
            running.url + path,
            'POST',
            session,
            body,
          );
          return token.accessToken;
        },
      ),
  };
}
