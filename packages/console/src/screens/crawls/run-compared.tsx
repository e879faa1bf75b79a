import { run as runText } from '#text/run';
import { LOCALE } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { crawl, unwrap } from '../../api/client.ts';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import type { RunDetail } from './api.ts';
import { describeDuration } from './duration.ts';

const t = runText.compared;
const number = new Intl.NumberFormat(LOCALE);
const signed = new Intl.NumberFormat(LOCALE, { signDisplay: 'exceptZero' });

const counters = ['items', 'deleted', 'failed'] as const;

/** What a run that has ended did otherwise than the completed run before it. */
export function RunCompared({ run }: { run: RunDetail }) {
  const { connector, instance, runId, mode, startedAt, finishedAt } = run;
  const query = useQuery({
    queryKey: ['crawls', 'run-before', runId],
    async queryFn({ signal }) {
      const call = crawl.GET('/api/v1/crawlingManager/{connector}/instances/{instance}/runs', {
        params: { path: { connector, instance }, query: { cursor: runId, limit: 1, outcome: 'completed' } },
        signal,
      });
      return (await unwrap(call)).data[0] ?? null;
    },
    enabled: finishedAt !== null,
    // What has ended stays as it was.
    staleTime: Infinity,
  });
  const before = query.data;
  if (!before || finishedAt === null || startedAt === null) return null;
  const tookMs = toMs(startedAt, finishedAt);
  const tookBeforeMs = toMs(before.startedAt, before.finishedAt);
  return (
    <Section
      title={t.title}
      actions={
        <Link to={`/crawls/connectors/${toConnectorKey(run)}/runs/${before.runId}`} className="button plain">
          {t.open}
        </Link>
      }
    >
      <table className="compared">
        <thead>
          <tr>
            <td />
            <th scope="col">{t.now}</th>
            <th scope="col">
              {before.finishedAt === null ? t.before : <Time at={before.finishedAt} as="full" />}
            </th>
            <th scope="col">{t.difference}</th>
          </tr>
        </thead>
        <tbody>
          {counters.map((name) => (
            <tr key={name} data-tone={name === 'failed' && run[name] > before[name] ? 'bad' : undefined}>
              <th scope="row">{runText.counters[name]}</th>
              <td>{number.format(run[name])}</td>
              <td>{number.format(before[name])}</td>
              <td>{signed.format(run[name] - before[name])}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t.took}</th>
            <td>{describeDuration(tookMs)}</td>
            <td>{describeDuration(tookBeforeMs)}</td>
            <td>{describeDifference(tookMs - tookBeforeMs)}</td>
          </tr>
        </tbody>
      </table>
      {mode !== before.mode && <p className="hint">{t.otherMode(runText.modes[before.mode])}</p>}
    </Section>
  );
}

const toMs = (from: string | null, to: string | null): number =>
  from === null || to === null ? 0 : Date.parse(to) - Date.parse(from);

const describeDifference = (ms: number): string => `${ms < 0 ? '−' : '+'}${describeDuration(Math.abs(ms))}`;
