import type { ReactNode } from 'react';

export type Tone = 'good' | 'notice' | 'bad' | 'neutral' | 'busy';

/** A state in one word. The word says it; the colour only helps to find it. */
export const Badge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="badge" data-tone={tone}>
    {children}
  </span>
);

export const Tags = ({ values }: { values: readonly string[] }) => (
  <span className="tags">
    {values.map((value) => (
      <code key={value}>{value}</code>
    ))}
  </span>
);
