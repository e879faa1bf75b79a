import { type ReactNode, useState } from 'react';
import { CheckboxGroup, Label } from 'react-aria-components';
import { CheckboxRow, Fault } from './fields.tsx';
import { useFormWait } from './form-state.ts';
import { LoadingLine } from './query-view.tsx';
import { SearchInput } from './search-input.tsx';
import { useSettled } from './use-settled.ts';

export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly detail?: string | undefined;
}

interface SearchPickerProps {
  readonly name: string;
  readonly label: string;
  readonly searchLabel: string;
  /** What is chosen at first. */
  readonly initial?: readonly Choice[];
  /** Is said when nothing is chosen: of a required choice, or of an empty one. */
  readonly missing?: string;
  readonly hint?: ReactNode;
  /** The choices that match; undefined while they are being loaded. */
  useChoices(q: string): readonly Choice[] | undefined;
  onChange?(ids: readonly string[]): void;
}

/** Chooses some of many that are found by a search. What is chosen stays in sight, whatever is searched for. */
export function SearchPicker(props: SearchPickerProps) {
  const { name, label, searchLabel, initial = [], missing, hint, useChoices, onChange } = props;
  const [q, setQ] = useState('');
  const [chosen, setChosen] = useState(initial);
  const found = useChoices(useSettled(q.trim()));
  // The fault of a choice is that of its first row: without rows, a form would be sent with it.
  useFormWait(found === undefined);
  const ids = chosen.map(({ id }) => id);
  const offered = [...chosen, ...(found ?? []).filter(({ id }) => !ids.includes(id))];
  return (
    <div className="field">
      <SearchInput label={searchLabel} value={q} onChange={setQ} isInForm />
      <CheckboxGroup
        name={name}
        className="field picker"
        value={ids}
        onChange={(next) => {
          setChosen(offered.filter(({ id }) => next.includes(id)));
          onChange?.(next);
        }}
        {...(missing !== undefined && {
          validate: (value: readonly string[]) => (value.length === 0 ? missing : null),
        })}
      >
        <Label>{label}</Label>
        {offered.map(({ id, name: title, detail }) => (
          <CheckboxRow key={id} value={id} hint={detail}>
            {title}
          </CheckboxRow>
        ))}
        {!found && <LoadingLine />}
        {hint}
        <Fault />
      </CheckboxGroup>
    </div>
  );
}
