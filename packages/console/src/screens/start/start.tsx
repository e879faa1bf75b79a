import { start as t } from '#text/start';
import { Link } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../../api/me.ts';
import { CheckIcon } from '../../ui/icons.tsx';
import { Page } from '../../ui/page.tsx';
import { Home } from './home.tsx';
import { rememberDone, type Step, steps, wasDone } from './steps.ts';

/** The main job, step by step, each ticked off by what has happened; afterwards what needs somebody. */
export function Screen() {
  const me = useMe();
  const shown = steps.filter(({ isForAdmins }) => me.role === 'admin' || !isForAdmins);
  // The list stays until the next visit, so that whoever does the last step sees it ticked.
  const [isNew] = useState(() => shown.some(({ id }) => !wasDone(me.id, id)));
  return (
    <Page title={t.title(me.fullName)} intro={isNew ? t.intro : t.homeIntro}>
      {isNew ? (
        <ol className="steps">
          {shown.map((step) => (
            <StepRow key={step.id} step={step} memberId={me.id} />
          ))}
        </ol>
      ) : (
        <Home />
      )}
    </Page>
  );
}

function StepRow({ step, memberId }: { step: Step; memberId: string }) {
  const { data: isDone = false } = useQuery({
    queryKey: ['start', step.id],
    async queryFn({ signal }) {
      const isDoneNow = await step.isDone(signal);
      if (isDoneNow) rememberDone(memberId, step.id);
      return isDoneNow;
    },
    enabled: !wasDone(memberId, step.id),
    ...(wasDone(memberId, step.id) && { initialData: true }),
    refetchInterval: (query) => (query.state.data === true ? false : 5_000),
  });
  const { title, advice, action } = t.steps[step.id];
  return (
    <li data-done={isDone || undefined}>
      <span className="box">
        <CheckIcon />
      </span>
      <div>
        <h2>
          {title}
          {isDone && <span className="unseen"> {t.done}</span>}
        </h2>
        <p>{advice}</p>
      </div>
      <Link to={step.path} className="button plain">
        {action}
      </Link>
    </li>
  );
}
