import { tokens as t } from '#text/tokens';
import { SelectInput } from '../../ui/fields.tsx';

export type Expiry = keyof typeof t.expiries;
const options = Object.entries(t.expiries) as [Expiry, string][];
export const EXPIRIES = { '30': 30, '90': 90, '365': 365, never: 'never' } as const;

/** After how long a new token expires. */
export const ExpiryInput = ({ value, onChange }: { value: Expiry; onChange: (expiry: Expiry) => void }) => (
  <SelectInput<Expiry>
    name="expiryDays"
    label={t.expiry}
    value={value}
    options={options}
    onChange={onChange}
    hint={value === 'never' ? t.expiryNever : undefined}
  />
);
