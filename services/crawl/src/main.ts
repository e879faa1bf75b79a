import { defineService } from '@platform/service-kit';
import { buildCrawl } from './app.js';
import { loadCrawlConfig } from './config.js';
import { openResources } from './resources.js';

export const main = defineService({
  name: 'crawl',
  program: import.meta.url,
  loadConfig: loadCrawlConfig,
  openResources,
  build: buildCrawl,
});
