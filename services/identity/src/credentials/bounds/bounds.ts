import type { Bounds } from '@platform/auth';
import { connectors, isConnector } from '@platform/events';
import { type FaultDetail, validationError } from '@platform/service-kit';
import { Type } from 'typebox';

/*
 * What a credential is limited to, beside its scopes: a list for each kind of thing. A list that is absent limits nothing, and
 * an empty one allows nothing. [PAT-56]
 */

/** Bounds as people choose them, and see them. */
export const BoundsBody = Type.Object(
  {
    connectors: Type.Optional(
      Type.Array(Type.String({ maxLength: 64, 'x-documented': { enum: [...connectors] } }), {
        maxItems: connectors.length,
        description: 'The connectors that it can be used for in the crawl service.',
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'What it is limited to beside its scopes. No list: no limit; an empty list: nothing.',
  },
);
export type BoundsBody = Type.Static<typeof BoundsBody>;

const kinds = ['connectors'] as const satisfies (keyof Bounds)[];

/** @throws AppError 400 that names each name that is unknown. */
export function readBounds(given: BoundsBody, field = 'bounds'): Bounds {
  const faults: FaultDetail[] = [];
  for (const [index, name] of (given.connectors ?? []).entries())
    if (!isConnector(name))
      faults.push({
        field: `${field}.connectors.${index}`,
        message: 'is not one of the connectors of this platform',
      });
  if (faults.length > 0) throw validationError(faults);
  return { ...(given.connectors && { connectors: [...new Set(given.connectors)] }) };
}

/**
 * Returns the bounds of a token that another one creates: those of its creator, as far as the new one has no narrower ones.
 *
 * @throws AppError 400 for what the creator cannot be used for.
 */
export function narrowBounds(wanted: Bounds, creator: Bounds): Bounds {
  for (const kind of kinds) {
    const allowed = creator[kind];
    if (allowed !== undefined && wanted[kind]?.every((name) => allowed.includes(name)) === false)
      throw validationError([
        { field: `bounds.${kind}`, message: 'must lie within the bounds of the token that creates this one' },
      ]);
  }
  return { ...creator, ...wanted };
}

/** Returns the bounds as they are stored; null for none. */
export const toStoredBounds = (bounds: Bounds): Bounds | null =>
  Object.keys(bounds).length > 0 ? bounds : null;
