import { defineCommands } from '@platform/service-kit';
import { crawlVariables, loadCrawlConfig } from './config.js';
import { migrateQueues } from './queue/migrations.js';

export const main = defineCommands({
  name: 'crawl',
  program: import.meta.url,
  variables: crawlVariables,
  loadConfig: loadCrawlConfig,
  afterMigrate: migrateQueues,
});
