import { tokens } from '#text/tokens';
import { CheckboxGroup, Label } from 'react-aria-components';
import { Advanced, CheckboxRow } from '../../ui/fields.tsx';
import { type BoundChoices, boundKinds, NOTHING, toLabel } from './bounds.ts';

const t = tokens.bounds;

/** What a token is limited to. Nothing ticked is no limit. */
export const BoundsInput = ({ choices }: { choices: BoundChoices }) => (
  <Advanced label={t.title}>
    <p className="hint">{t.hint}</p>
    {boundKinds
      .filter((kind) => choices[kind].length > 0)
      .map((kind) => (
        <CheckboxGroup key={kind} name={kind} className="field">
          <Label>{t.kinds[kind]}</Label>
          {choices[kind].map((name) => (
            <CheckboxRow key={name} value={name}>
              {toLabel(kind, name)}
            </CheckboxRow>
          ))}
          <CheckboxRow value={NOTHING}>{t.nothing[kind]}</CheckboxRow>
        </CheckboxGroup>
      ))}
  </Advanced>
);
