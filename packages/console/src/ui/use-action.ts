import {
  type QueryKey,
  useMutation,
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';

interface ActionOptions<Result, Input> extends Omit<
  UseMutationOptions<Result, Error, Input>,
  'mutationFn' | 'onSuccess' | 'onSettled'
> {
  /** The queries that are out of date afterwards, even if it failed. */
  readonly changes?: readonly QueryKey[];
  mutationFn(input: Input): Promise<Result>;
  onSuccess?(result: Result, input: Input): void;
  /** Acts on the screen, such as by closing a dialog: not called any more once that is closed. */
  onDone?(result: Result): void;
}

/**
 * A mutation that is not started again while it is under way: a double click comes before anything is rendered, so a
 * button that shows it can't be relied on. It is over before what it changed is loaded again: a form that says that it
 * is saved must let go of the screen.
 */
export function useAction<Result, Input = void>(
  options: ActionOptions<Result, Input>,
): UseMutationResult<Result, Error, Input> {
  const { mutationFn, changes = [], onSuccess, onDone, ...rest } = options;
  const client = useQueryClient();
  const isBusy = useRef(false);
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const mutation = useMutation<Result, Error, Input>({
    ...rest,
    async mutationFn(input) {
      try {
        return await mutationFn(input);
      } finally {
        isBusy.current = false;
      }
    },
    onSuccess(result, input) {
      onSuccess?.(result, input);
      if (isShown.current) onDone?.(result);
    },
    onSettled() {
      for (const queryKey of changes) void client.invalidateQueries({ queryKey });
    },
  });
  const { mutate: start } = mutation;
  const mutate = useCallback<typeof start>(
    (...args) => {
      if (isBusy.current) return;
      isBusy.current = true;
      start(...args);
    },
    [start],
  );
  return { ...mutation, mutate };
}
