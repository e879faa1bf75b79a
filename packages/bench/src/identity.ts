import type { EmbeddedPostgres } from '@platform/embedded';
import { setUpService } from './built-service.js';
import type { Core, ServiceProcess } from './service-process.js';

const admin = { email: 'admin@example.com', password: 'benchmark-password' };
const CREATE_CONCURRENCY = 16;

/** An identity service with its own database, and the credentials of the measurements. */
export interface BenchIdentity extends ServiceProcess {
  readonly databaseUrl: string;
  readonly session: string;
  /** Creates an organisation. @returns its administrator's session. */
  createOrganisation(): Promise<string>;
  /** Creates personal access tokens, by default with `user:read` and `pat:read`. */
  createTokens(
    count: number,
    scopes?: readonly string[],
    allowList?: readonly string[],
  ): Promise<{ id: string; accessToken: string }[]>;
}

export async function send(
  url: string,
  method: string,
  token: string | undefined,
  body?: object,
): Promise<{ status: number; body: never }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = (await response.json()) as never;
  if (!response.ok)
    throw new Error(`${method} ${url} answered ${response.status}: ${JSON.stringify(answer)}`);
  return { status: response.status, body: answer };
}

async function createTokens(
  url: string,
  session: string,
  count: number,
  scopes: readonly string[],
  allowList: readonly string[],
) {
  const tokens: { id: string; accessToken: string }[] = [];
  const createSome = async () => {
    while (tokens.length < count) {
      const body = { name: 'bench', scopes, allowList, expiryDays: 'never' };
      const answer = await send(`${url}/api/v1/personal-access-tokens`, 'POST', session, body);
      tokens.push((answer.body as { token: { id: string; accessToken: string } }).token);
    }
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, createSome));
  return tokens.slice(0, count);
}

/**
 * Starts the built service as in production, by default on the server's core.
 *
 * @param more - additional environment variables.
 */
export async function startBenchIdentity(
  postgres: EmbeddedPostgres,
  database: string,
  more: NodeJS.ProcessEnv = {},
  core?: Core,
): Promise<BenchIdentity> {
  const service = await setUpService(postgres, 'identity', database, {
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    BOOTSTRAP_ADMIN_EMAIL: admin.email,
    BOOTSTRAP_ADMIN_PASSWORD: admin.password,
    // As in its image.
    MALLOC_ARENA_MAX: '2',
    ...more,
  });
  const running = await service.start(core);
  async function login(credentials: typeof admin): Promise<string> {
    const { body } = await send(`${running.url}/api/v1/auth/login`, 'POST', undefined, credentials);
    return (body as { accessToken: string }).accessToken;
  }
  const session = await login(admin);
  let organisations = 1;
  return {
    ...running,
    databaseUrl: service.databaseUrl,
    session,
    async createOrganisation() {
      const email = `admin-${(organisations += 1)}@example.com`;
      const args = ['create-organisation', '--name', 'Another', '--admin-email', email];
      service.runCommand(args, { ADMIN_PASSWORD: admin.password });
      return login({ ...admin, email });
    },
    createTokens: (count, scopes = ['user:read', 'pat:read'], allowList = []) =>
      createTokens(running.url, session, count, scopes, allowList),
  };
}
