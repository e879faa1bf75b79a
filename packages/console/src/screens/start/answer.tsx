import { LOCALE } from '#text/shared';
import { start } from '#text/start';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { formatAge } from '../../ui/time.tsx';
import { type Source, sourcesQuery } from '../knowledge/api.ts';

const t = start.answer;
const REFRESH_MS = 30_000;
const SHOWN_DAYS = 7;
const number = new Intl.NumberFormat(LOCALE);

type CallCounts = IdentitySchemas['schemas']['CallCounts'];

/** Returns when the day began that lies so many days back, by the clock of the browser. */
function getDayStart(daysAgo: number): Date {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day;
}

interface AnswerProps {
  /** What does not answer at the moment; undefined while that is unknown, or of no concern. */
  readonly down: readonly (keyof typeof t.services)[] | undefined;
}

/** The state of the platform in a few sentences, and the calls of the week. */
export function HomeAnswer({ down }: AnswerProps) {
  const sources = useQuery(sourcesQuery);
  const calls = useQuery({
    queryKey: ['attention', 'calls'],
    queryFn: ({ signal }) => {
      const query = {
        from: getDayStart(SHOWN_DAYS - 1).toISOString(),
        today: getDayStart(0).toISOString(),
      };
      return unwrap(identity.GET('/api/v1/mcp-servers/tools/calls', { params: { query }, signal }));
    },
    refetchInterval: REFRESH_MS,
  });
  return (
    <div className="home-answer">
      <div>
        <p>
          {sources.data && <Knowledge sources={sources.data} />}{' '}
          {calls.data && <Calls agents={calls.data.agents} />}{' '}
          {down && (down.length === 0 ? t.up : <strong>{t.down(down.map((one) => t.services[one]))}</strong>)}
        </p>
        <ProblemNote error={sources.error ?? calls.error} />
      </div>
      <CallChart hours={calls.data?.hours ?? []} />
    </div>
  );
}

function Knowledge({ sources }: { sources: readonly Source[] }) {
  if (sources.length === 0) return t.noKnowledge;
  const times = sources.flatMap(({ lastCompletedAt }) =>
    lastCompletedAt === null ? [] : Date.parse(lastCompletedAt),
  );
  const stale = sources.filter(({ state }) => state === 'late' || state === 'failing').length;
  return (
    <>
      <Link to="/knowledge">
        {times.length === 0
          ? t.notCrawled
          : t.knowledge(formatAge(Math.max(...times)), formatAge(Math.min(...times)))}
      </Link>
      {stale > 0 && ` ${t.stale(stale, sources.length)}`}
    </>
  );
}

function Calls({ agents: { agents, calls, failures, isMinimum } }: Pick<CallCounts, 'agents'>) {
  const isAdmin = useMe().role === 'admin';
  if (calls === 0) return isAdmin ? t.noCalls : t.noOwnCalls;
  const write = (count: number): string => `${number.format(count)}${isMinimum ? '+' : ''}`;
  const words = (isAdmin ? t.calls : t.ownCalls)(write(agents), write(calls), agents === 1, calls === 1);
  return (
    <>
      <Link to="/tools">{words}</Link>
      {failures > 0 && t.failures(write(failures))}.
    </>
  );
}

const BAR = 10;
const GAP = 4;
const HEIGHT = 60;
const MIN_SCALE = 4;

const weekday = new Intl.DateTimeFormat(LOCALE, { weekday: 'short' });

/** The calls of each of the last days; those that failed are at the top of its bar. */
function CallChart({ hours }: Pick<CallCounts, 'hours'>) {
  const days = Array.from({ length: SHOWN_DAYS }, (_, index) => {
    const [from, to] = [getDayStart(SHOWN_DAYS - 1 - index), getDayStart(SHOWN_DAYS - 2 - index)];
    const within = hours.filter(
      ({ hour }) => Date.parse(hour) >= from.getTime() && Date.parse(hour) < to.getTime(),
    );
    const sum = (key: 'calls' | 'failures'): number => within.reduce((total, one) => total + one[key], 0);
    return { name: weekday.format(from), calls: sum('calls'), failures: sum('failures') };
  });
  const total = days.reduce((sum, { calls }) => sum + calls, 0);
  const unit = HEIGHT / Math.max(MIN_SCALE, ...days.map(({ calls }) => calls));
  const label = t.chartOf(days.map(({ name, calls }) => `${name} ${number.format(calls)}`));
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${SHOWN_DAYS * (BAR + GAP) - GAP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {days.map(({ calls, failures }, index) => {
          const x = index * (BAR + GAP);
          return (
            <g key={x}>
              <rect className="track" x={x} width={BAR} height={HEIGHT} />
              <rect data-tone="busy" x={x} y={HEIGHT - calls * unit} width={BAR} height={calls * unit} />
              {failures > 0 && (
                <rect data-tone="bad" x={x} y={HEIGHT - calls * unit} width={BAR} height={failures * unit} />
              )}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.name}</span>
        <span title={t.chart}>{t.total(number.format(total), total === 1)}</span>
        <span>{t.today}</span>
      </figcaption>
    </figure>
  );
}
