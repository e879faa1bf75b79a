import { tokens } from '#text/tokens';
import { CheckboxGroup, Label } from 'react-aria-components';
import { Advanced, CheckboxRow } from '../../ui/fields.tsx';
import { type BoundChoices, boundKinds, type Bounds, NOTHING, toLabel } from './bounds.ts';

const t = tokens.bounds;

interface BoundsInputProps {
  readonly choices: BoundChoices;
  /** What is ticked at first; what cannot be chosen any more stays offered. */
  readonly bounds?: Bounds;
}

const toTicked = (names: readonly string[] | undefined): string[] =>
  names?.length === 0 ? [NOTHING] : [...(names ?? [])];

/** What a token is limited to. Nothing ticked is no limit. */
export const BoundsInput = ({ choices, bounds = {} }: BoundsInputProps) => (
  <Advanced label={t.title}>
    <p className="hint">{t.hint}</p>
    {boundKinds
      .map((kind) => ({ kind, names: [...new Set([...choices[kind], ...(bounds[kind] ?? [])])] }))
      .filter(({ kind, names }) => names.length > 0 || bounds[kind])
      .map(({ kind, names }) => (
        <CheckboxGroup key={kind} name={kind} className="field" defaultValue={toTicked(bounds[kind])}>
          <Label>{t.kinds[kind]}</Label>
          {names.map((name) => (
            <CheckboxRow key={name} value={name}>
              {toLabel(kind, name)}
            </CheckboxRow>
          ))}
          <CheckboxRow value={NOTHING}>{t.nothing[kind]}</CheckboxRow>
        </CheckboxGroup>
      ))}
  </Advanced>
);
