import { text } from '#text/shared';
import { useState } from 'react';
import { Button } from './button.tsx';

function useCopy(value: string) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = (): void =>
    void navigator.clipboard.writeText(value).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  return { state: text.copyStates[state], copy };
}

/** A text to copy, and the button that copies it. */
export function Copyable({ value, label }: { value: string; label: string }) {
  const { state, copy } = useCopy(value);
  return (
    <div className="copyable">
      {/* Reached by keyboard, because a long line scrolls. */}
      <pre tabIndex={0} aria-label={label}>
        {value}
      </pre>
      <Button onPress={copy} aria-label={text.copyThing(state, label)}>
        {state}
      </Button>
    </div>
  );
}

/** An id that can be copied, in a line of facts. */
export function CopyId({ value, label }: { value: string; label: string }) {
  const { state, copy } = useCopy(value);
  return (
    <span className="inline-copy">
      <code>{value}</code>
      <Button kind="link" onPress={copy} aria-label={text.copyThing(state, label)}>
        {state}
      </Button>
    </span>
  );
}
