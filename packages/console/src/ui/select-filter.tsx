import { text } from '../text/index.ts';
import { SelectInput } from './fields.tsx';
import { useFilters } from './use-filters.ts';

interface SelectFilterProps {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, label: string])[];
}

const ANY = 'any';

/** A choice of many in the address; the first is all of them. */
export function SelectFilter({ label, name, options }: SelectFilterProps) {
  const { filters, setFilter } = useFilters();
  return (
    <SelectInput<string>
      label={label}
      value={filters[name] ?? ANY}
      options={[[ANY, text.all], ...options]}
      onChange={(value) => setFilter(name, value === ANY ? '' : value)}
    />
  );
}
