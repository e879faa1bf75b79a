import { tokens } from '#text/tokens';
import type { IdentitySchemas } from '@platform/clients/types';
import { getConnectorName } from '../../ui/connector-name.ts';

const t = tokens.bounds;

export type BoundChoices = IdentitySchemas['schemas']['BoundChoices']['bounds'];
export type Bounds = Partial<BoundChoices>;

export const boundKinds = ['servers', 'tools', 'connectors'] as const;
/** Ticked in place of names, it allows nothing. No name is a hyphen alone. */
export const NOTHING = '-';

export const toLabel = (kind: (typeof boundKinds)[number], name: string): string =>
  kind === 'connectors' ? getConnectorName(name) : name;

/** Reads the bounds that are ticked in a form, as a field of a request; none is no field. */
export function readBounds(form: FormData): { bounds?: Bounds } {
  const bounds = Object.fromEntries(
    boundKinds.flatMap((kind) => {
      const ticked = form.getAll(kind).map(String);
      return ticked.length === 0 ? [] : [[kind, ticked.filter((name) => name !== NOTHING)]];
    }),
  );
  return Object.keys(bounds).length === 0 ? {} : { bounds };
}

/** Says what a credential is limited to, for each kind of thing. */
export const describeBounds = (bounds: Bounds | null): string =>
  boundKinds
    .flatMap((kind) => {
      const names = bounds?.[kind]?.map((name) => toLabel(kind, name));
      return names ? [`${t.kinds[kind]}: ${names.length > 0 ? names.join(', ') : t.none}`] : [];
    })
    .join(' · ');
