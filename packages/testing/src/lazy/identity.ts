import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { createTestDatabase } from '../test-database.js';
import type { LazyServer } from './containers.js';

/** The secret of every service client of the shared identity. */
export const SERVICE_SECRET = 'a-secret-of-the-services-0123456789abcdef';

const PASSWORD = 'correct-Horse-battery-9';
const run = promisify(execFile);
const pathInIdentity = (path: string) =>
  fileURLToPath(new URL(`../../../../services/identity/${path}`, import.meta.url));

/** An organisation of the shared identity, and the credentials of its administrator. */
export interface TestOrganisation {
  readonly orgId: string;
  readonly admin: { readonly email: string; readonly password: string };
}

export interface SharedIdentity extends LazyServer {
  createOrganisation(): Promise<TestOrganisation>;
}

async function runCommand(databaseUrl: string, args: readonly string[]): Promise<string> {
  const env = { DATABASE_URL: databaseUrl, ADMIN_PASSWORD: PASSWORD };
  return (await run(process.execPath, [pathInIdentity('dist/cli.js'), ...args], { env })).stdout;
}

/** @returns a function that creates an organisation in identity's database. */
export function createOrganisationCreator(databaseUrl: string): SharedIdentity['createOrganisation'] {
  let count = 0;
  return async () => {
    const email = `admin-${++count}@example.com`;
    const args = ['create-organisation', '--name', 'Example', '--admin-email', email];
    const orgId = /organisation (\S+),/.exec(await runCommand(databaseUrl, args))?.[1] ?? '';
    return { orgId, admin: { email, password: PASSWORD } };
  };
}

/** Starts the built identity over a database of its own. */
export async function startSharedIdentity(): Promise<SharedIdentity> {
  const database = await createTestDatabase({
    template: 'identity',
    migrationsDir: pathInIdentity('prisma/migrations'),
    migrate: async (url) => void (await runCommand(url, ['migrate'])),
  });
  const port = await findFreePort();
  const server = await launchChildServer({
    name: 'identity',
    command: [process.execPath, pathInIdentity('dist/server.js')],
    env: {
      DATABASE_URL: database.url,
      DATABASE_TIMEOUT_MS: '5000',
      ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
      SERVICE_CLIENTS: ['crawl', 'identity', 'mail'].map((client) => `${client}:${SERVICE_SECRET}`).join(),
      HOST: '127.0.0.1',
      PORT: String(port),
    },
    ready: /identity is ready/,
    fault: /"level":"?(?:fatal|60)|Error/,
    onLog: () => undefined,
    temporaryDir: undefined,
  });
  return {
    address: `http://127.0.0.1:${port}`,
    source: 'embedded',
    createOrganisation: createOrganisationCreator(database.url),
    async stop() {
      await server.stop();
      await database.drop();
    },
  };
}
