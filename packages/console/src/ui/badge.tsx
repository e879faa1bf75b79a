import type { ReactNode } from 'react';

export type Tone = 'good' | 'notice' | 'bad' | 'neutral' | 'busy';

/** A state in one word. The word says it; the colour only helps to find it. */
export const Badge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="badge" data-tone={tone}>
    {children}
  </span>
);

const SHOWN_TAGS = 3;

/** The first few of some names; the title has all of them. */
export const Tags = ({ values }: { values: readonly string[] }) => (
  <span className="tags" title={values.join(', ')}>
    {values.slice(0, SHOWN_TAGS).map((value) => (
      <code key={value}>{value}</code>
    ))}
    {values.length > SHOWN_TAGS && <small>+{values.length - SHOWN_TAGS}</small>}
  </span>
);
