import type { ReactNode } from 'react';
import { useEffect, useState } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { SearchInput } from './search-input.tsx';
import { useFilters } from './use-filters.ts';

const PAUSE_MS = 250;

export const FilterBar = ({ children }: { children: ReactNode }) => (
  <search className="filters">{children}</search>
);

/** A text filter in the address; it waits for a pause in the typing. */
export function SearchBox({ label, name = 'q' }: { label: string; name?: string }) {
  const { filters, setFilter } = useFilters();
  const current = filters[name] ?? '';
  const [value, setValue] = useState(current);
  const [sent, setSent] = useState(current);
  const [seen, setSeen] = useState(current);
  if (seen !== current) {
    setSeen(current);
    // It was changed elsewhere, such as by a link or a button that clears the filters.
    if (current !== sent) setValue(current);
  }
  useEffect(() => {
    if (value === current) return undefined;
    const timer = setTimeout(() => {
      setSent(value);
      setFilter(name, value);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return <SearchInput label={label} value={value} onChange={setValue} />;
}

interface FilterToggleProps {
  readonly label: string;
  readonly name: string;
  /** The first is the default, and not written to the address. */
  readonly options: readonly (readonly [value: string, label: string])[];
}

/** A choice of few in the address, all of them in sight. */
export function FilterToggle({ label, name, options }: FilterToggleProps) {
  const { filters, setFilter } = useFilters();
  const [standard] = options[0] ?? [''];
  return (
    <ToggleButtonGroup
      aria-label={label}
      className="toggles"
      disallowEmptySelection
      selectedKeys={[filters[name] ?? standard]}
      onSelectionChange={(keys) => {
        const [key = standard] = [...keys].map(String);
        setFilter(name, key === standard ? '' : key);
      }}
    >
      {options.map(([value, title]) => (
        <ToggleButton key={value} id={value}>
          {title}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
