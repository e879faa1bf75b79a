import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

/** Requests that may work at a second attempt: no response, or a service that is starting. */
const isTemporary = (error: unknown): boolean =>
  error instanceof Problem && error.code !== 'OFFLINE' && [0, 502, 503].includes(error.status);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && isTemporary(error),
      retryDelay: (failures) => 500 * 2 ** failures,
      // Otherwise a query would wait for the network silently, and a change would be sent when nobody expects it.
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
