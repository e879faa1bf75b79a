import { TextInput } from './fields.tsx';
import { useFilters } from './use-filters.ts';

/** A day in the address. */
export function DateFilter({ label, name }: { label: string; name: string }) {
  const { filters, setFilter } = useFilters();
  return (
    <TextInput
      label={label}
      type="date"
      value={filters[name] ?? ''}
      onChange={(value) => setFilter(name, value)}
    />
  );
}
