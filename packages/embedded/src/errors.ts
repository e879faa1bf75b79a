/** A fault that one line explains to the operator; `cause` and the logs contain the details. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** A fault of a server other than PostgreSQL, explained in one line. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
}
