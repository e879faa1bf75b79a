import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { migrate } from '@platform/service-kit';
import { createTestDatabase } from '@platform/testing';

const identityFolder = fileURLToPath(new URL('../../identity', import.meta.url));
const migrationsDir = `${identityFolder}/prisma/migrations`;

export const admin = { email: 'admin@example.com', password: 'correct-horse-battery' };
export const clientSecret = 'a-secret-of-the-mail-service-0123456789';

export interface IdentityProcess {
  readonly url: string;
  readonly databaseUrl: string;
  close(): Promise<void>;
}

/** Starts a built service, and waits for the address that it logs when it is ready. */
export async function startService(folder: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [`${folder}/dist/server.js`], {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const { address } = JSON.parse(line) as { address?: { port: number } };
      if (address) resolve(address.port);
    });
    void exited.then((code) => {
      reject(new Error(`${folder} ended with ${code}: ${errors}`));
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
      child.kill(signal);
      await exited;
    },
  };
}

/** The real identity, as a process of its own: services meet over HTTP, in tests too. */
export async function startIdentityProcess(): Promise<IdentityProcess> {
  const database = await createTestDatabase({
    template: 'identity',
    migrationsDir,
    migrate: async (url) => {
      await migrate(url, migrationsDir);
    },
  });
  const service = await startService(identityFolder, {
    DATABASE_URL: database.url,
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    SERVICE_CLIENTS: `mail:${clientSecret},identity:${clientSecret}`,
    BOOTSTRAP_ADMIN_EMAIL: admin.email,
    BOOTSTRAP_ADMIN_PASSWORD: admin.password,
  });
  return {
    url: service.url,
    databaseUrl: database.url,
    async close() {
      await service.stop();
      await database.drop();
    },
  };
}
