import { text } from '#text/shared';
import type { SelectInputProps } from './fields.tsx';
import { lazyPart } from './lazy-part.tsx';
import { useFilters } from './use-filters.ts';

const SelectInput = lazyPart<SelectInputProps<string>>(
  async () => (await import('./fields.tsx')).SelectInput,
);

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
    <SelectInput
      label={label}
      value={filters[name] ?? ANY}
      options={[[ANY, text.all], ...options]}
      onChange={(value) => setFilter(name, value === ANY ? '' : value)}
    />
  );
}
