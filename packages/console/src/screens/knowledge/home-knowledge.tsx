import { knowledge as t } from '#text/knowledge';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type Source, sourcesQuery } from './api.ts';
import { SourceRows } from './source-rows.tsx';

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
        <SourceRows sources={stale.slice(0, SHOWN)}>
          {stale.length > SHOWN && (
            <li>
              <div>
                <p>{t.home.more(stale.length - SHOWN)}</p>
              </div>
            </li>
          )}
        </SourceRows>
      )}
    </Section>
  );
}

const findOldest = (fresh: readonly Source[]): string =>
  fresh.flatMap(({ lastCompletedAt }) => lastCompletedAt ?? []).toSorted()[0] ?? '';
