import { lazyPart } from './lazy-part.tsx';
import { useFilters } from './use-filters.ts';

const TextInput = lazyPart(async () => (await import('./fields.tsx')).TextInput);

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
