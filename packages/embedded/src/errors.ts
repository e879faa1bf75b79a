/** A fault that one line explains to whoever started the process; `cause` and logs have the rest. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
