import { fileURLToPath } from 'node:url';
import { createLogger, describeVariables, migrate } from '@platform/service-kit';
import { loadDatabaseConfig, loadMailConfig, mailVariables } from './config.js';

const usage = `mail <command>

  migrate   apply the database migrations that are missing
  config    every variable, and what is wrong with the environment

The database is DATABASE_URL.
`;

async function runMigrate(): Promise<void> {
  const folder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
  const { DATABASE_URL: databaseUrl } = loadDatabaseConfig(process.env);
  const applied = await migrate(databaseUrl, folder, createLogger('mail', 'warn'));
  process.stdout.write(applied.length > 0 ? `applied: ${applied.join(', ')}\n` : 'nothing to apply\n');
}

/** Runs the command that `process.argv` names. */
export async function main(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2);
  if (command === 'migrate' && rest.length === 0) return runMigrate();
  if (command === 'config' && rest.length === 0) {
    process.stdout.write(describeVariables(mailVariables));
    loadMailConfig(process.env);
    return;
  }
  if (command === undefined || command === '--help' || command === '-h') {
    process.stdout.write(usage);
    return;
  }
  process.stderr.write(`unknown command ${[command, ...rest].join(' ')}\n\n${usage}`);
  process.exitCode = 2;
}
