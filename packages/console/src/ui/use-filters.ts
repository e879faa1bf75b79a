import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

type Filters = Readonly<Record<string, string | undefined>>;

/** The filters of a list, which live in the address: they survive a reload and can be sent to somebody. */
export function useFilters() {
  const filters: Filters = useSearch({ strict: false });
  const navigate = useNavigate();
  const setFilter = useCallback(
    (name: string, value: string): void =>
      void navigate({
        to: '.',
        search: (previous: Filters) => ({ ...previous, [name]: value || undefined }),
        replace: true,
      }),
    [navigate],
  );
  return { filters, setFilter };
}
