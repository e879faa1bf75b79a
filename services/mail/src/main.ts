import { defineService } from '@platform/service-kit';
import { buildMail } from './app.js';
import { loadMailConfig } from './config.js';
import { openResources } from './resources.js';

export const main = defineService({
  name: 'mail',
  program: import.meta.url,
  loadConfig: loadMailConfig,
  openResources,
  build: buildMail,
});
