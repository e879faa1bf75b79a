/** A fault of a server that one line explains to the operator; `cause` and the logs contain the details. */
export class EmbeddedServerError extends Error {
  override readonly name: string = 'EmbeddedServerError';
}

/** The port that was asked for belongs to another process. */
export class PortTakenError extends EmbeddedServerError {
  override readonly name = 'PortTakenError';
}
