import { AppError } from '@platform/service-kit';
import { Type } from 'typebox';
import type { NamedBounds } from '../../credentials/bounds/bounds.js';

/* The bounds that a member ticks on the consent page, in the fields of its form and in the query of its address. */

export const boundKinds = ['servers', 'tools', 'connectors'] as const;

/** Ticked in place of names, it allows nothing. No name is a hyphen alone. */
export const NOTHING = '-';
const MAX_CHOSEN = 100;

const Names = Type.Optional(Type.String({ maxLength: 8_192 }));
/** For a page that is opened again: names with spaces between them. */
export const boundsQuery = { servers: Names, tools: Names, connectors: Names };
type BoundsQuery = { readonly [Kind in (typeof boundKinds)[number]]?: string | undefined };

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** @throws AppError 400 for more names than bounds can have. */
export function readChosenBounds(fields: Fields): NamedBounds {
  const bounds: { -readonly [Kind in keyof NamedBounds]: string[] } = {};
  for (const kind of boundKinds) {
    const ticked = [fields[kind] ?? []].flat();
    if (ticked.length > MAX_CHOSEN)
      throw new AppError({
        status: 400,
        code: 'TOO_MANY_BOUNDS',
        message: `Tick at most ${MAX_CHOSEN} in each list, or nothing`,
      });
    if (ticked.length > 0) bounds[kind] = ticked.filter((name) => name !== NOTHING);
  }
  return bounds;
}

export const readBoundsQuery = (query: BoundsQuery): NamedBounds =>
  readChosenBounds(Object.fromEntries(boundKinds.map((kind) => [kind, query[kind]?.split(' ')])));

export const toBoundsQuery = (bounds: NamedBounds): Record<string, string> =>
  Object.fromEntries(
    boundKinds.flatMap((kind) => {
      const names = bounds[kind];
      return names ? [[kind, names.join(' ') || NOTHING]] : [];
    }),
  );
