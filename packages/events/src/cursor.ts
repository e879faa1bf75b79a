/** The `after` of a request is not a cursor that this service issued, which is the caller's fault. */
export class InvalidCursorError extends Error {
  override readonly name = 'InvalidCursorError';
  constructor() {
    super('not a cursor of this feed');
  }
}

const PREFIX = 'e1:';
const POSITION = /^(?:0|[1-9]\d{0,17})$/;

/** Encodes a position as an opaque cursor, so that clients do not compute with positions, which have gaps. */
export const encodeCursor = (position: string): string =>
  Buffer.from(PREFIX + position).toString('base64url');

/** Decodes a cursor. @throws {@link InvalidCursorError} */
export function decodeCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = text.slice(PREFIX.length);
  if (!text.startsWith(PREFIX) || !POSITION.test(position) || encodeCursor(position) !== cursor)
    throw new InvalidCursorError();
  return position;
}
