import { tokens as t } from '#text/tokens';
import { CheckboxGroup, FieldError, Label } from 'react-aria-components';
import { CheckboxRow } from '../../ui/fields.tsx';
import type { ScopeGroup } from './purposes.ts';

interface ScopePickerProps {
  readonly groups: readonly ScopeGroup[];
  readonly chosen: readonly string[];
  onChange(scopes: readonly string[]): void;
}

/** Each permission in words, by category. */
export const ScopePicker = ({ groups, chosen, onChange }: ScopePickerProps) => (
  <CheckboxGroup
    name="scopes"
    className="field"
    isRequired
    value={[...chosen]}
    onChange={onChange}
    validate={(value) => (value.length === 0 ? t.scopesMissing : null)}
  >
    <Label>{t.scopes}</Label>
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
    <FieldError className="fault">{t.scopesMissing}</FieldError>
  </CheckboxGroup>
);
