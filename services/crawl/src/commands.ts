import { defineCommands } from '@platform/service-kit';
import { crawlVariables, loadCrawlConfig } from './config.js';
import { migrateQueues } from './queue/backend.js';

export const main = defineCommands({
  name: 'crawl',
  program: import.meta.url,
  variables: crawlVariables,
  loadConfig: loadCrawlConfig,
  afterMigrate: migrateQueues,
});
