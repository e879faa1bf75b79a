import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLogger, describeVariables, migrate } from '@platform/service-kit';
import { crawlVariables, loadCrawlConfig, loadDatabaseConfig } from './config.js';
import { migrateQueues } from './queue/backend.js';

const usage = `crawl <command>

  migrate    apply the database migrations that are missing, and those of the queue's own schema
  config     every variable, and what is wrong with the environment

The database is DATABASE_URL.
`;

async function runMigrate(): Promise<void> {
  const folder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
  const { DATABASE_URL: databaseUrl } = loadDatabaseConfig(process.env);
  const applied = await migrate(databaseUrl, folder, createLogger('crawl', 'warn'));
  await migrateQueues(databaseUrl);
  process.stdout.write(applied.length > 0 ? `applied: ${applied.join(', ')}\n` : 'nothing to apply\n');
}

/** What the command line asks for. */
export async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  });
  const [command] = positionals;
  if (values.help || command === undefined) process.stdout.write(usage);
  else if (command === 'migrate') await runMigrate();
  else if (command === 'config') {
    process.stdout.write(describeVariables(crawlVariables));
    loadCrawlConfig(process.env);
  } else {
    process.stderr.write(`unknown command ${command}\n`);
    process.exitCode = 2;
  }
}
