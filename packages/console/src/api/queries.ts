import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

/** Requests that may work at a second attempt: no response, or a service that is starting. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof Problem && error.code !== 'OFFLINE' && [0, 502, 503].includes(error.status);

/** How often it is tried whether the platform is back. */
export const RECOVERY_MS = 5_000;

interface ReadState {
  readonly state: { readonly status: string; readonly error: unknown };
}

/** What could not be read is read again until the platform is back: nobody has to reload a screen for it. */
export const getRecoveryInterval = ({ state }: ReadState): number | false =>
  state.status === 'error' && isTemporary(state.error) && RECOVERY_MS;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && isTemporary(error),
      retryDelay: (failures) => 500 * 2 ** failures,
      refetchInterval: getRecoveryInterval,
      // Otherwise a query would wait for the network silently, and a change would be sent when nobody expects it.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
