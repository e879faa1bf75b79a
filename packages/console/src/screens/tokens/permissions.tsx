import { tokens as t } from '#text/tokens';
import { useState } from 'react';
import { RadioCards } from '../../ui/fields.tsx';
import { getScopesFor, listPurposes, type Purpose, type ScopeGroup } from './purposes.ts';
import { ScopePicker } from './scope-picker.tsx';

interface PermissionsProps {
  readonly groups: readonly ScopeGroup[];
  /** The purpose that is chosen at first; by default the first that can be served. */
  readonly initial?: Purpose;
  /** The scopes that are chosen at first, in place of those of a purpose. */
  readonly scopes?: readonly string[] | undefined;
}

/** The permissions by what they are for; any of them can be changed. */
export function Permissions({ groups, initial, scopes }: PermissionsProps) {
  const purposes = listPurposes(groups);
  const [purpose, setPurpose] = useState<Purpose>(scopes ? 'other' : (initial ?? purposes[0] ?? 'other'));
  const [chosen, setChosen] = useState(() => scopes ?? getScopesFor(purpose, groups));
  const choose = (next: Purpose): void => {
    setPurpose(next);
    setChosen(getScopesFor(next, groups));
  };
  return (
    <>
      <RadioCards
        label={t.purpose}
        value={purpose}
        options={purposes.map((key) => ({ key, ...t.purposes[key] }))}
        onChange={choose}
      />
      <ScopePicker groups={groups} chosen={chosen} onChange={setChosen} />
    </>
  );
}
