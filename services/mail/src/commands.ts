import { defineCommands } from '@platform/service-kit';
import { loadMailConfig, mailVariables } from './config.js';

export const main = defineCommands({
  name: 'mail',
  program: import.meta.url,
  variables: mailVariables,
  loadConfig: loadMailConfig,
});
