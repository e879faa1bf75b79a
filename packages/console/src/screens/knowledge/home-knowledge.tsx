import { knowledge as t } from '#text/knowledge';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Section } from '../../ui/page.tsx';
import { sourcesQuery } from './api.ts';
import { SourceRows } from './source-rows.tsx';

const SHOWN = 3;

/** The sources that are not fresh. */
export function HomeKnowledge() {
  const { data = [] } = useQuery(sourcesQuery);
  const stale = data.filter(({ state }) => state !== 'fresh');
  if (stale.length === 0) return null;
  return (
    <Section
      title={t.home.title}
      actions={
        <Link to="/knowledge" className="button plain">
          {t.home.all}
        </Link>
      }
    >
      <SourceRows sources={stale.slice(0, SHOWN)}>
        {stale.length > SHOWN && (
          <li>
            <div>
              <p>{t.home.more(stale.length - SHOWN)}</p>
            </div>
          </li>
        )}
      </SourceRows>
    </Section>
  );
}
