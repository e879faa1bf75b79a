import { start } from '#text/start';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { crawl, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Figures, Section } from '../../ui/page.tsx';
import { Loading } from '../../ui/query-view.tsx';
import { sources } from './attention.ts';

const t = start.attention;
const REFRESH_MS = 30_000;

/** What needs somebody; if nothing does, what the platform has done lately. */
export function Home({ isAdmin }: { isAdmin: boolean }) {
  const read = useQueries({
    queries: sources
      .filter(({ isForAdmins }) => isAdmin || !isForAdmins)
      .map(({ id, load }) => ({
        queryKey: ['attention', id],
        queryFn: ({ signal }: { signal: AbortSignal }) => load(signal),
        refetchInterval: REFRESH_MS,
      })),
  });
  const concerns = read.flatMap(({ data }) => data ?? []);
  if (concerns.length === 0 && read.some(({ isPending }) => isPending)) return <Loading />;
  return (
    <>
      {concerns.length > 0 && (
        <Section title={t.title(concerns.length)}>
          <ul className="settings concerns">
            {concerns.map(({ id, tone, title, detail, to }) => (
              <li key={id}>
                <div>
                  <h3>{title}</h3>
                  {detail !== '' && <p>{detail}</p>}
                </div>
                <Badge tone={tone}>{t.tones[tone]}</Badge>
                <Link to={to} className="button plain" aria-label={t.openThing(title)}>
                  {t.open}
                </Link>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {concerns.length === 0 && <p className="all-well">{t.allWell}</p>}
      {isAdmin && <Today />}
    </>
  );
}

/** The last hour of the crawls, and what is planned. */
function Today() {
  const { data: queue } = useQuery({
    queryKey: ['attention', 'queue'],
    queryFn: async ({ signal }) =>
      (await unwrap(crawl.GET('/api/v1/crawlingManager/queue', { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  const { data: stats } = useQuery({
    queryKey: ['attention', 'stats'],
    queryFn: async ({ signal }) =>
      (await unwrap(crawl.GET('/api/v1/crawlingManager/stats', { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  if (!queue || !stats) return null;
  const sum = (state: 'completed' | 'failed'): number =>
    queue.lastHour.reduce((total, step) => total + step[state], 0);
  const figures = [
    [t.figures.completed, sum('completed')],
    [t.figures.failed, sum('failed')],
    [t.figures.active, stats.active],
    [t.figures.delayed, stats.delayed],
  ] as const;
  return (
    <Section title={t.figures.title}>
      <Figures of={figures} />
    </Section>
  );
}
