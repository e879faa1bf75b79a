import { knowledge as t } from '#text/knowledge';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { type Source, stateTones } from './api.ts';

interface SourceRowsProps {
  readonly sources: readonly Source[];
  /** What else is said of a source. */
  readonly more?: (source: Source) => ReactNode;
  readonly children?: ReactNode;
}

/** Sources with their age, a row each, in the words that an agent gets with an answer. */
export function SourceRows({ sources, more, children }: SourceRowsProps) {
  return (
    <ul className="settings concerns">
      {sources.map((source) => {
        const key = toConnectorKey(source);
        const name = getConnectorName(key);
        return (
          <li key={key}>
            <div>
              <h3>
                <Link to={`/knowledge/${key}`}>{name}</Link>
              </h3>
              <p>{source.text}</p>
              {more?.(source)}
            </div>
            <Badge tone={stateTones[source.state]}>{t.states[source.state]}</Badge>
          </li>
        );
      })}
      {children}
    </ul>
  );
}
