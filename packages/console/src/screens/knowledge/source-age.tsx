import { knowledge as t } from '#text/knowledge';
import { Badge } from '../../ui/badge.tsx';
import { type Source, stateTones } from './api.ts';

/** How old a source is: the state, and the words that an agent gets with an answer. */
export const SourceAge = ({ source: { state, text } }: { source: Pick<Source, 'state' | 'text'> }) => (
  <span className="stack">
    <Badge tone={stateTones[state]}>{t.states[state]}</Badge>
    <small>{text}</small>
  </span>
);
