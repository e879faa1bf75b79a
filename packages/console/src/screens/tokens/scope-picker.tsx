import { tokens as t } from '#text/tokens';
import { CheckboxRow, ChoiceGroup } from '../../ui/fields.tsx';
import type { ScopeGroup } from './purposes.ts';

interface ScopePickerProps {
  readonly groups: readonly ScopeGroup[];
  readonly chosen: readonly string[];
  onChange(scopes: readonly string[]): void;
}

/** Each permission in words, by category. */
export const ScopePicker = ({ groups, chosen, onChange }: ScopePickerProps) => (
  <ChoiceGroup name="scopes" label={t.scopes} missing={t.scopesMissing} value={chosen} onChange={onChange}>
    <div className="scopes">
      {groups.map(({ category, scopes }) => (
        <div key={category} role="group" aria-label={category}>
          <h3>{category}</h3>
          {scopes.map(({ name, description, adminOnly }) => (
            <CheckboxRow
              key={name}
              value={name}
              hint={adminOnly ? `${description}, ${t.adminOnly}` : description}
            >
              <code>{name}</code>
            </CheckboxRow>
          ))}
        </div>
      ))}
    </div>
  </ChoiceGroup>
);
