import { parseArgs } from 'node:util';
import { startFeedEpoch } from '@platform/events';
import {
  awaitIdentity,
  createReencryptCommand,
  defineCommands,
  endPendingRestore,
  isRestorePending,
  loadConfig,
  systemClock,
} from '@platform/service-kit';
import pg from 'pg';
import { crawlVariables, loadCrawlConfig } from './config.js';
import { recordCommand } from './db/facts.js';
import { migrateQueues } from './queue/migrations.js';
import { sealedColumns } from './sealed-columns.js';

async function runAfterRestore(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { 'if-pending': { type: 'boolean' } } });
  const { DATABASE_URL } = loadConfig(process.env, { DATABASE_URL: crawlVariables.DATABASE_URL });
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    if (values['if-pending'] && !(await isRestorePending(client))) return;
    await client.query('begin');
    await startFeedEpoch(client);
    await endPendingRestore(client);
    await recordCommand(client, 'crawl after-restore', new Date(systemClock()));
    await client.query('commit');
  } finally {
    await client.end();
  }
}

export const main = defineCommands({
  name: 'crawl',
  program: import.meta.url,
  variables: crawlVariables,
  loadConfig: loadCrawlConfig,
  afterMigrate: migrateQueues,
  commands: {
    'after-restore': runAfterRestore,
    'await-identity': awaitIdentity,
    're-encrypt': createReencryptCommand({
      databaseUrl: crawlVariables.DATABASE_URL,
      sealed: sealedColumns,
      record: (db) => recordCommand(db, 'crawl re-encrypt', new Date(systemClock())),
    }),
  },
  help: `  await-identity                wait until identity is not older than this program, five minutes at most
  after-restore [--if-pending]  say that the database was restored, before the service starts: the cursors
                                of the events feed are refused, as they may skip events;
                                the audit says so
  re-encrypt                    re-encrypt stored secrets with the first of ENCRYPTION_KEYS, while the
                                service runs
`,
});
