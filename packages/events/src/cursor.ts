/** The `after` of a request is not a cursor that this service issued, which is the caller's fault. */
export class InvalidCursorError extends Error {
  override readonly name = 'InvalidCursorError';
  constructor() {
    super('not a cursor of this feed');
  }
}

/** The feed cannot continue from a cursor: events after it were deleted, or the database was restored. */
export class CursorGoneError extends Error {
  override readonly name = 'CursorGoneError';
  constructor() {
    super('the feed cannot continue from this cursor');
  }
}

/** A place in the feed: all events up to the position have been read. */
export interface FeedCursor {
  /** The epoch of the positions: they start over when the database is restored. */
  readonly epoch: string;
  readonly position: string;
  /** How often events had been deleted when the reading began. */
  readonly deletions: string;
}

const CURSOR = /^e1:([0-9a-f-]{36}):(0|[1-9]\d{0,17}):(0|[1-9]\d{0,17})$/;

/** Encodes a place as an opaque cursor, so that clients do not compute with positions, which have gaps. */
export const encodeCursor = ({ epoch, position, deletions }: FeedCursor): string =>
  Buffer.from(`e1:${epoch}:${position}:${deletions}`).toString('base64url');

/** Decodes a cursor. @throws {@link InvalidCursorError} */
export function decodeCursor(cursor: string): FeedCursor {
  const [, epoch, position, deletions] =
    CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (epoch === undefined || position === undefined || deletions === undefined)
    throw new InvalidCursorError();
  const read = { epoch, position, deletions };
  if (encodeCursor(read) !== cursor) throw new InvalidCursorError();
  return read;
}
