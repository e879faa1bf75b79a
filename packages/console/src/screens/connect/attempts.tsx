import { connect } from '#text/connect';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type ConnectionAttempt, describeAttempt, nameAttempt } from './describe-attempt.ts';

const t = connect.attempts;
const REFRESH_MS = 3_000;
const RECENT_MS = 60 * 60_000;
const SHOWN = 3;

/** The latest attempts to connect, each with the step at which it is stuck; nothing while there are none. */
export function Attempts({ canRegister }: { canRegister: boolean }) {
  const { data = [] } = useQuery({
    queryKey: ['agents', 'attempts'],
    queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/agents/attempts', { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  const recent = data.filter(
    ({ stuckAt, lastAt }) => stuckAt !== null && Date.now() - Date.parse(lastAt) < RECENT_MS,
  );
  // What is certainly one's own comes first; the others are only of the same network.
  const own = recent.filter(({ userId }) => userId !== null);
  const shown = [...own, ...recent.filter(({ userId }) => userId === null)].slice(0, SHOWN);
  if (shown.length === 0) return null;
  return (
    <Section title={t.title}>
      <ul className="settings">
        {shown.map((attempt) => (
          <li key={`${attempt.startedAt} ${attempt.client}`}>
            <Progress attempt={attempt} canRegister={canRegister} isOwn />
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface ProgressProps {
  readonly attempt: ConnectionAttempt;
  readonly canRegister: boolean;
  /** Whether the reader is the member who connects; otherwise an administrator. */
  readonly isOwn?: boolean;
}

/** How far an attempt has come, whose turn it is, and what to do. */
export function Progress({ attempt, canRegister, isOwn = false }: ProgressProps) {
  const stuck = describeAttempt(attempt, canRegister);
  const { steps, lastAt, stuckAt, fault, email } = attempt;
  const who = isOwn ? t.who : { ...t.who, you: email ?? t.member };
  return (
    <div>
      <h3>{t.of(nameAttempt(attempt))}</h3>
      <p>
        {!isOwn && email !== null && <>{email} · </>}
        <Time at={lastAt} />
      </p>
      <ol className="reached">
        {steps
          .filter(({ step }) => fault === null || step !== stuckAt)
          .map(({ step }) => (
            <li key={step}>
              <CheckIcon />
              {t.steps[step]}
            </li>
          ))}
        {stuckAt !== null && <li data-stuck>{t.steps[stuckAt]}</li>}
      </ol>
      {stuck && (
        <p className="warning">
          <strong>{(fault === null ? t.stuck : t.failed)(who[stuck.who])}.</strong>{' '}
          {isOwn ? stuck.advice : t.told(stuck.advice)}
        </p>
      )}
    </div>
  );
}
