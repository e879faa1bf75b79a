/** A fault that one line explains to whoever started the process; `cause` and logs have the rest. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** The same for the servers other than PostgreSQL. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
}
