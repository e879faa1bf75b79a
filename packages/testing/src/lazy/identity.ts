import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { createTestDatabase } from '../test-database.js';
import type { LazyServer } from './containers.js';

/** The secret of every service client of the shared identity. */
export const SERVICE_SECRET = 'a-secret-of-the-services-0123456789abcdef';
/** The `ENCRYPTION_KEYS` of every service. */
export const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;

export const PASSWORD = 'correct-Horse-battery-9';
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

async function runNode(databaseUrl: string, args: readonly string[]): Promise<string> {
  const env = { DATABASE_URL: databaseUrl, ADMIN_PASSWORD: PASSWORD };
  return (await run(process.execPath, [...args], { env })).stdout;
}

/** How many organisations are created at once: a process of the command costs as much as that many of them. */
const BATCH_SIZE = 10;

/** Runs the command `create-organisation` in one process, for each of the addresses that it is given. */
const CREATE_ORGANISATIONS = `
  import { main } from ${JSON.stringify(pathInIdentity('dist/commands.js'))};
  const [node, ...emails] = process.argv;
  for (const email of emails) {
    process.argv = [node, 'cli.js', 'create-organisation', '--name', 'Example', '--admin-email', email];
    await main();
  }`;

/**
 * @returns a function that creates an organisation in identity's database, and others ahead of their time. The caller waits
 * for each before it asks for the next.
 */
export function createOrganisationCreator(databaseUrl: string): SharedIdentity['createOrganisation'] {
  const ahead: TestOrganisation[] = [];
  let count = 0;
  return async () => {
    if (ahead.length === 0) {
      const emails = Array.from({ length: BATCH_SIZE }, () => `admin-${++count}@example.com`);
      const args = ['--input-type=module', '--eval', CREATE_ORGANISATIONS, ...emails];
      const lines = (await runNode(databaseUrl, args)).trim().split('\n');
      for (const [index, email] of emails.entries()) {
        const orgId = /^organisation (\S+),/.exec(lines[index] ?? '')?.[1] ?? '';
        ahead.push({ orgId, admin: { email, password: PASSWORD } });
      }
    }
    return ahead.shift() as TestOrganisation;
  };
}

/** Starts the built identity over its own database. */
export async function startSharedIdentity(): Promise<SharedIdentity> {
  const database = await createTestDatabase({
    template: 'identity',
    migrationsDir: pathInIdentity('prisma/migrations'),
    migrate: async (url) => void (await runNode(url, [pathInIdentity('dist/cli.js'), 'migrate'])),
  });
  const port = await findFreePort();
  const server = await launchChildServer({
    name: 'identity',
    command: [process.execPath, pathInIdentity('dist/server.js')],
    env: {
      DATABASE_URL: database.url,
      DATABASE_TIMEOUT_MS: '5000',
      ENCRYPTION_KEYS,
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
