import pg from 'pg';
import { loadConfig, type Variable } from '../config/config.js';
import { reencryptAll, type SealedColumn } from '../data/re-encryption.js';
import { createSecretBox, encryptionKeys } from '../data/secret-box.js';
import { type Command, UsageError } from './define-commands.js';

/**
 * Creates the command `re-encrypt` of a service.
 *
 * @param deps.sealed - the sealed columns, by the name of what they hold.
 * @param deps.record - stores that an operator has run it. It is no single transaction, so it is recorded before.
 */
export const createReencryptCommand =
  (deps: {
    readonly databaseUrl: Variable<string>;
    readonly sealed: Readonly<Record<string, SealedColumn>>;
    readonly record: (db: pg.Pool) => Promise<unknown>;
  }): Command =>
  async (args) => {
    if (args.length > 0) throw new UsageError(`unknown argument ${args.join(' ')}`);
    const variables = { DATABASE_URL: deps.databaseUrl, ENCRYPTION_KEYS: encryptionKeys };
    const config = loadConfig(process.env, variables);
    const pool = new pg.Pool({ connectionString: config.DATABASE_URL, max: 1 });
    try {
      await deps.record(pool);
      const counts = await reencryptAll(pool, createSecretBox(config.ENCRYPTION_KEYS), deps.sealed);
      for (const [name, count] of Object.entries(counts))
        process.stdout.write(`${name}: ${count} re-encrypted\n`);
    } finally {
      await pool.end();
    }
  };
