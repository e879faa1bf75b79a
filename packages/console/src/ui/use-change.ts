import { useCallback, useRef } from 'react';

/**
 * Notifies the form and the dialog around a field that it was changed: not every field has an element of the browser's that
 * does. @returns what the field's element and its change have to call.
 */
export function useChange<Value>(onChange: (value: Value) => void) {
  const field = useRef<HTMLDivElement>(null);
  const change = useCallback(
    (value: Value) => {
      onChange(value);
      field.current?.dispatchEvent(new Event('input', { bubbles: true }));
    },
    [onChange],
  );
  return [field, change] as const;
}
