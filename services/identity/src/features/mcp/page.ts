import { validationError } from '@platform/service-kit';
import { Type } from 'typebox';

/** Arguments of a tool whose list can grow: small by default. */
export const pageArguments = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many at most.' }),
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The `nextCursor` of the page before; leave out for the first.',
    }),
  ),
};

/** A type, not an interface: it has to pass for any arguments. */
export type PageArguments = { readonly limit: number; readonly cursor?: string };

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Null: there is no more.',
});

const encode = (key: string): string => Buffer.from(key).toString('base64url');

function decode(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString();
  if (cursor === '' || encode(key) !== cursor)
    throw validationError(
      [{ field: 'cursor', message: 'is not a cursor of this tool' }],
      'Invalid arguments',
    );
  return key;
}

/**
 * One page of a whole list. A cursor names the last item that was shown, so that items which come
 * or go between two pages neither repeat nor hide others.
 *
 * @param items in descending order of their keys
 * @throws AppError 400 for a cursor that isn't one.
 */
export function pageOf<T>(items: readonly T[], keyOf: (item: T) => string, { limit, cursor }: PageArguments) {
  const last = cursor === undefined ? undefined : decode(cursor);
  const rest = last === undefined ? items : items.filter((item) => keyOf(item) < last);
  const page = rest.slice(0, limit);
  const end = page.at(-1);
  return { page, nextCursor: end !== undefined && rest.length > page.length ? encode(keyOf(end)) : null };
}
