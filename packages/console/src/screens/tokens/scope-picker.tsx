import { tokens as t } from '#text/tokens';
import { CheckboxRow, ChoiceGroup } from '../../ui/fields.tsx';
import type { ScopeGroup } from './purposes.ts';

interface ScopePickerProps {
  readonly hint?: string;
  readonly groups: readonly ScopeGroup[];
  readonly chosen: readonly string[];
  onChange(scopes: readonly string[]): void;
}

const countChosen = (groups: readonly ScopeGroup[], chosen: readonly string[]): string => {
  const names = groups.flatMap(({ scopes }) => scopes.map(({ name }) => name));
  return t.scopeCount(names.filter((name) => chosen.includes(name)).length, names.length);
};

/** Each permission in words, by category, with how many of them are chosen. */
export const ScopePicker = ({ groups, chosen, onChange, ...labels }: ScopePickerProps) => (
  <ChoiceGroup
    name="scopes"
    label={t.scopes}
    {...labels}
    aside={countChosen(groups, chosen)}
    missing={t.scopesMissing}
    value={chosen}
    onChange={onChange}
  >
    <ScopeGroups groups={groups} chosen={chosen} />
  </ChoiceGroup>
);

interface ScopeRowProps {
  readonly name: string;
  readonly description: string;
  readonly adminOnly?: boolean;
}

/** Shows what a permission allows first, then its name. */
const ScopeRow = ({ name, description, adminOnly = false }: ScopeRowProps) => (
  <CheckboxRow
    value={name}
    hint={
      <>
        {adminOnly && `${t.adminOnly} · `}
        <code>{name}</code>
      </>
    }
  >
    {description || name}
  </CheckboxRow>
);

/** The boxes of a group of check boxes. */
export const ScopeGroups = ({ groups, chosen }: Pick<ScopePickerProps, 'groups' | 'chosen'>) => (
  <div className="scopes">
    {groups.map((group) => (
      <div key={group.category} role="group" aria-label={group.category}>
        <h3>
          {group.category}
          <span>{countChosen([group], chosen)}</span>
        </h3>
        {group.scopes.map((scope) => (
          <ScopeRow key={scope.name} {...scope} />
        ))}
      </div>
    ))}
  </div>
);
