import { text } from '#text/shared';
import { isolate } from '../../text/isolate.ts';
import { Button } from '../../ui/button.tsx';
import { CloseIcon } from '../../ui/icons.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import type { AuditName } from './api.ts';

interface ChosenFilterProps {
  readonly label: string;
  readonly name: string;
  readonly names: Readonly<Record<string, AuditName>>;
}

/** A filter that was chosen by pressing on a name in the list, and how to end it. */
export function ChosenFilter({ label, name, names }: ChosenFilterProps) {
  const { filters, setFilter } = useFilters();
  const id = filters[name];
  if (id === undefined) return null;
  const shown = `${label}: ${isolate(names[id]?.name ?? id)}`;
  return (
    <Button aria-label={text.clearFilter(shown)} onPress={() => setFilter(name, '')}>
      {shown}
      <CloseIcon />
    </Button>
  );
}
