import { text } from '#text/shared';
import { useState } from 'react';
import { CheckboxGroup } from 'react-aria-components';
import { CheckboxRow, TextInput } from './fields.tsx';

interface SecretInputProps {
  readonly name: string;
  readonly label: string;
  /** What to enter; once a value is stored, the field says how it is kept. */
  readonly hint?: string;
  readonly isStored: boolean;
  /** Whether something has to be stored. A stored value satisfies it. */
  readonly isRequired?: boolean;
  /** The label of the choice that deletes the stored value; without it, it can only be replaced. */
  readonly removal?: string;
  readonly isLong?: boolean;
  readonly maxLength?: number;
}

const toRemovalName = (name: string): string => `${name}Removal`;

/** A secret, which is never shown. Left empty, it stays what it is: deleting it is a separate act (API-18). */
export function SecretInput({
  name,
  label,
  hint,
  isStored,
  isRequired = false,
  removal,
  isLong = false,
  maxLength,
}: SecretInputProps) {
  const [isRemoved, setRemoved] = useState(false);
  return (
    <div className="field">
      <TextInput
        name={name}
        label={label}
        hint={isStored ? text.secrets.kept : hint}
        placeholder={isStored && !isRemoved ? text.secrets.stored : ''}
        isRequired={isRequired && !isStored}
        isDisabled={isRemoved}
        isLong={isLong}
        {...(maxLength !== undefined && { maxLength })}
        {...(isLong ? { autoComplete: 'off' } : { type: 'password', autoComplete: 'new-password' })}
      />
      {isStored && removal !== undefined && (
        <CheckboxGroup
          name={toRemovalName(name)}
          aria-label={removal}
          value={isRemoved ? [name] : []}
          onChange={(chosen) => setRemoved(chosen.length > 0)}
        >
          <CheckboxRow value={name}>{removal}</CheckboxRow>
        </CheckboxGroup>
      )}
    </div>
  );
}

/** Reads a secret, as the APIs take it: undefined keeps what is stored, null deletes it. Blanks may belong to it. */
export function readSecret(form: FormData, name: string): string | null | undefined {
  if (form.has(toRemovalName(name))) return null;
  const value = form.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
