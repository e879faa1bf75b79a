import { LOCALE, text } from '#text/shared';
import { start } from '#text/start';
import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { crawl, mail, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { ListTotal } from '../../ui/merge-first-page.ts';
import { Figures, Section } from '../../ui/page.tsx';
import { Loading, QueryView } from '../../ui/query-view.tsx';
import { HomeKnowledge } from '../knowledge/home-knowledge.tsx';
import { HomeAnswer } from './answer.tsx';
import { sources } from './attention.ts';
import { PasskeyOffer } from './passkey-offer.tsx';

const t = start.attention;
const REFRESH_MS = 30_000;
const DAY_MS = 86_400_000;

/** What needs attention, and the day in numbers. */
export function Home() {
  const { id: myId, role } = useMe();
  const isAdmin = role === 'admin';
  const reader = { id: myId, isAdmin };
  const shown = sources.filter(({ isFor }) => isFor(reader));
  const read = useQueries({
    queries: shown.map(({ id, load }) => ({
      queryKey: ['attention', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => load(signal, reader),
      refetchInterval: REFRESH_MS,
    })),
  });
  const concerns = read.flatMap(({ data }) => data ?? []);
  const failed = shown.filter((_, index) => read[index]?.isError);
  const isReading = concerns.length === 0 && read.some(({ isPending }) => isPending);
  return (
    <>
      <HomeAnswer
        down={isAdmin && !isReading ? [...new Set(failed.map(({ id }) => toService(id)))] : undefined}
      />
      {failed.length > 0 && (
        <div className="banner bad" role="alert">
          <span>{t.unread(failed.map(({ id }) => t.sources[id]))}</span>
          <Button onPress={() => read.forEach(({ isError, refetch }) => isError && void refetch())}>
            {text.tryAgain}
          </Button>
        </div>
      )}
      {concerns.length > 0 && (
        <Section title={t.title(concerns.length)}>
          <ul className="settings concerns">
            {concerns.map(({ id, tone, state, title, detail, action, to }) => (
              <li key={id}>
                <div>
                  <h3>{title}</h3>
                  {detail !== '' && <p>{detail}</p>}
                </div>
                <Badge tone={tone}>{t.states[state]}</Badge>
                <Link to={to} className="button plain" aria-label={t.actionFor(t.actions[action], title)}>
                  {t.actions[action]}
                </Link>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {isReading && <Loading />}
      {!isReading && concerns.length === 0 && failed.length === 0 && <p className="all-well">{t.allWell}</p>}
      <HomeKnowledge />
      {isAdmin && <Day />}
      <PasskeyOffer />
    </>
  );
}

/** The service that a source is read from. */
function toService(id: (typeof sources)[number]['id']): 'crawls' | 'mails' | 'identity' {
  return id === 'crawls' || id === 'mails' ? id : 'identity';
}

const number = new Intl.NumberFormat(LOCALE);
const toFigure = ({ total, totalIsMinimum }: ListTotal): string =>
  totalIsMinimum ? t.figures.atLeast(number.format(total)) : number.format(total);

/** The work of the platform in the last 24 hours, each service by itself: an unavailable one hides only its own part. */
function Day() {
  const crawls = useQuery({
    queryKey: ['attention', 'day', 'crawls'],
    async queryFn({ signal }) {
      const [day, now] = await Promise.all([
        unwrap(crawl.GET('/api/v1/crawlingManager/stats/day', { signal })),
        unwrap(crawl.GET('/api/v1/crawlingManager/stats', { signal })),
      ]);
      return { ...day.data, now: now.data };
    },
    refetchInterval: REFRESH_MS,
  });
  const mails = useQuery({
    queryKey: ['attention', 'day', 'mails'],
    async queryFn({ signal }) {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      const [sent, notSent] = await Promise.all(
        (['sent', 'failed'] as const).map(async (state) => {
          const params = { query: { state, since, limit: 1 } };
          return (await unwrap(mail.GET('/api/v1/mail/records', { params, signal }))).pagination;
        }),
      );
      return { sent, notSent };
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section title={t.figures.title}>
      <div className="day">
        <QueryView query={crawls}>
          {({ completed, failed, isMinimum: totalIsMinimum, now }) => (
            <Figures
              of={[
                [t.figures.completed, toFigure({ total: completed, totalIsMinimum })],
                [t.figures.failed, toFigure({ total: failed, totalIsMinimum })],
                [t.figures.active, number.format(now.active)],
                [t.figures.delayed, number.format(now.delayed)],
              ]}
            />
          )}
        </QueryView>
        <QueryView query={mails}>
          {({ sent, notSent }) => (
            <Figures
              of={[
                ...(sent ? [[t.figures.sent, toFigure(sent)] as const] : []),
                ...(notSent ? [[t.figures.notSent, toFigure(notSent)] as const] : []),
              ]}
            />
          )}
        </QueryView>
      </div>
    </Section>
  );
}
