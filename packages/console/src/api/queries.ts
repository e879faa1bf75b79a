import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

/** Requests that may work at a second attempt: no response, or a service that is starting. */
const isTemporary = (error: unknown): boolean =>
  error instanceof Problem && (error.status === 0 || error.status === 502 || error.status === 503);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && isTemporary(error),
      retryDelay: (failures) => 500 * 2 ** failures,
    },
    mutations: { retry: false },
  },
});
