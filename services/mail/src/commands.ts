import { insertCommandReports } from '@platform/events/facts';
import { awaitIdentity, createReencryptCommand, defineCommands, systemClock } from '@platform/service-kit';
import { loadMailConfig, mailVariables } from './config.js';
import { sealedColumns } from './sealed-columns.js';

/** Stores that an operator ran a command, for the audit of every organisation that has mails. */
const recordCommand = insertCommandReports('select org_id from mails union select org_id from smtp_tokens');

export const main = defineCommands({
  name: 'mail',
  program: import.meta.url,
  variables: mailVariables,
  loadConfig: loadMailConfig,
  commands: {
    'await-identity': awaitIdentity,
    're-encrypt': createReencryptCommand({
      databaseUrl: mailVariables.DATABASE_URL,
      sealed: sealedColumns,
      record: (db) => db.query(recordCommand, ['mail re-encrypt', new Date(systemClock())]),
    }),
  },
  help: `  await-identity                wait until identity is not older than this program, five minutes at most
  re-encrypt                    re-encrypt what is stored sealed with the first of ENCRYPTION_KEYS, while
                                the service runs
`,
});
