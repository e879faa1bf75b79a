import { LOCALE } from '#text/shared';
import { tools } from '#text/tools';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { identity, unwrap } from '../../api/client.ts';
import { Figures, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import type { ToolUsage } from './api.ts';

const t = tools.usage;
const number = new Intl.NumberFormat(LOCALE);
const seconds = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });
const SECOND_MS = 1_000;

const describeDuration = (ms: number | null): string => {
  if (ms === null) return '–';
  return ms < SECOND_MS ? t.ms(number.format(ms)) : t.s(seconds.format(ms / SECOND_MS));
};

interface UsageProps {
  /** A server, or one tool. */
  readonly of: { readonly serverId: string } | { readonly tool: string };
}

/** How often a server or a tool was called lately, by whom, how long that took, and how it ended. */
export function Usage({ of }: UsageProps) {
  const query = useQuery({
    queryKey: ['mcp-servers', 'usage', of],
    queryFn: ({ signal }) =>
      'tool' in of
        ? unwrap(
            identity.GET('/api/v1/mcp-servers/tools/{tool}/usage', {
              params: { path: { tool: of.tool } },
              signal,
            }),
          )
        : unwrap(
            identity.GET('/api/v1/mcp-servers/{id}/usage', { params: { path: { id: of.serverId } }, signal }),
          ),
  });
  return (
    <Section title={t.title}>
      <QueryView query={query}>
        {(usage) => (usage.calls === 0 ? <p className="all-well">{t.none}</p> : <Counted usage={usage} />)}
      </QueryView>
    </Section>
  );
}

function Counted({ usage: { calls, failures, recent } }: { usage: ToolUsage }) {
  const notes = [
    ...(recent.calls < calls ? [t.of(number.format(recent.calls))] : []),
    ...recent.outcomes
      .filter(({ outcome }) => outcome !== 'completed')
      .map(
        ({ outcome, calls: ended }) =>
          `${t.names[outcome as keyof typeof t.names] ?? outcome}: ${number.format(ended)}`,
      ),
  ];
  return (
    <>
      <Figures
        of={[
          [t.calls, number.format(calls)],
          [t.failures, number.format(failures)],
          [t.p50, describeDuration(recent.p50Ms)],
          [t.p95, describeDuration(recent.p95Ms)],
        ]}
      />
      <ul className="settings callers">
        {recent.callers.map(({ id, kind, name, calls: made, lastAt }) => (
          <li key={id}>
            <div>
              <h3>{name === null ? t.gone : <Caller id={id} kind={kind} name={name} />}</h3>
              <p>
                {t.last} <Time at={lastAt} />
              </p>
            </div>
            <span>{number.format(made)}</span>
          </li>
        ))}
      </ul>
      {notes.length > 0 && <p className="hint">{notes.join(' · ')}</p>}
    </>
  );
}

const Caller = ({ id, kind, name }: { id: string; kind: string | null; name: string }) =>
  kind === 'member' ? (
    <Link to={`/organisation/members/${id}`}>{name}</Link>
  ) : (
    <Link to={`/organisation/service-accounts/${id}`}>{name}</Link>
  );
