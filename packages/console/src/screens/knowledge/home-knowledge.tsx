import { knowledge as t } from '#text/knowledge';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type Source, sourcesQuery, stateTones } from './api.ts';

const SHOWN = 3;

/** How old what agents know is; nothing while no source is known. */
export function HomeKnowledge() {
  const { data = [], error } = useQuery(sourcesQuery);
  if (data.length === 0) return <ProblemNote error={error} />;
  const stale = data.filter(({ state }) => state !== 'fresh');
  return (
    <Section
      title={t.home.title}
      actions={
        <Link to="/knowledge" className="button plain">
          {t.home.all}
        </Link>
      }
    >
      {stale.length === 0 ? (
        <p className="all-well">
          {t.home.fresh(data.length)} {t.home.oldest} <Time at={findOldest(data)} />.
        </p>
      ) : (
        <ul className="settings concerns">
          {stale.slice(0, SHOWN).map((source) => (
            <li key={toConnectorKey(source)}>
              <div>
                <h3>{getConnectorName(toConnectorKey(source))}</h3>
                <p>{source.text}</p>
              </div>
              <Badge tone={stateTones[source.state]}>{t.states[source.state]}</Badge>
            </li>
          ))}
          {stale.length > SHOWN && (
            <li>
              <div>
                <p>{t.home.more(stale.length - SHOWN)}</p>
              </div>
            </li>
          )}
        </ul>
      )}
    </Section>
  );
}

const findOldest = (fresh: readonly Source[]): string =>
  fresh.flatMap(({ lastCompletedAt }) => lastCompletedAt ?? []).toSorted()[0] ?? '';
