import { awaitIdentity, defineCommands } from '@platform/service-kit';
import { loadMailConfig, mailVariables } from './config.js';

export const main = defineCommands({
  name: 'mail',
  program: import.meta.url,
  variables: mailVariables,
  loadConfig: loadMailConfig,
  commands: { 'await-identity': awaitIdentity },
  help: `  await-identity                wait until identity is not older than this program, five minutes at most
`,
});
