import { useEffect, useState } from 'react';

const PAUSE_MS = 200;

/** The value as it was when it last stopped changing for a moment; compared by its JSON. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  const json = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(
      () => setSettled(json === undefined ? (undefined as Value) : JSON.parse(json)),
      PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [json]);
  return settled;
}
