import { text } from '#text/shared';
import { useState } from 'react';
import { Button } from './button.tsx';

/** A text to copy, and the button that copies it. */
export function Copyable({ value, label }: { value: string; label: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  return (
    <div className="copyable">
      {/* Reached by keyboard, because a long line scrolls. */}
      <pre tabIndex={0} aria-label={label}>
        {value}
      </pre>
      <Button onPress={() => void copy()} aria-label={text.copyThing(label)}>
        {text.copyStates[state]}
      </Button>
    </div>
  );
}
