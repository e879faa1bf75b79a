import { useFilters } from './use-filters.ts';

const PARAMETER = 'do';
const NEW = 'new';

/** The search of an address that opens the main dialog of its screen. */
export const MAIN_DIALOG = { [PARAMETER]: NEW };

/** Whether an address opens the main dialog of its screen. */
export const isMainDialog = (search: Readonly<Record<string, string | undefined>>): boolean =>
  search[PARAMETER] === NEW;

/** Whether the main dialog of the screen is open: that stands in the address, so that other places can lead to it. */
export function useMainDialog() {
  const { filters, setFilter } = useFilters();
  return {
    isOpen: isMainDialog(filters),
    open: () => setFilter(PARAMETER, NEW),
    close: () => setFilter(PARAMETER, ''),
  };
}
