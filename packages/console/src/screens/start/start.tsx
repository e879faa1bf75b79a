import { start as t } from '#text/start';
import { Link } from '@tanstack/react-router';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { CheckIcon } from '../../ui/icons.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Home } from './home.tsx';
import { rememberDone, type Step, steps, wasDone } from './steps.ts';

const REFRESH_MS = 5_000;
const NONE: readonly Step[] = [];

/** What needs attention, and above it the first steps until each of them has been done. */
export function Screen() {
  const me = useMe();
  const shown = steps.filter(({ isForAdmins }) => me.role === 'admin' || !isForAdmins);
  // The steps stay until the next visit, so that whoever does the last one sees it ticked.
  const [areShown, setShown] = useState<boolean>();
  const done = useDone(areShown === false ? NONE : shown, me.id);
  if (areShown === undefined && done.every((isDone) => isDone !== undefined)) setShown(done.includes(false));
  const hide = (): void => {
    for (const { id } of shown) rememberDone(me.id, id);
    setShown(false);
  };
  return (
    <Page title={t.title(me.fullName)} intro={t.homeIntro}>
      {areShown && (
        <Section title={t.stepsTitle} actions={<Button onPress={hide}>{t.hide}</Button>}>
          <p className="quiet-text">{t.intro}</p>
          <ol className="steps">
            {shown.map((step, index) => (
              <StepRow key={step.id} step={step} isDone={done[index] === true} />
            ))}
          </ol>
        </Section>
      )}
      {areShown !== undefined && <Home />}
    </Page>
  );
}

/** Returns which of the steps are done; undefined while that is unknown, and null when it can't be read. */
function useDone(shown: readonly Step[], memberId: string): readonly (boolean | null | undefined)[] {
  const reads = useQueries({
    queries: shown.map(({ id, isDone }) => ({
      queryKey: ['start', id],
      async queryFn({ signal }: { signal: AbortSignal }) {
        const isDoneNow = await isDone(signal);
        if (isDoneNow) rememberDone(memberId, id);
        return isDoneNow;
      },
      enabled: !wasDone(memberId, id),
      ...(wasDone(memberId, id) && { initialData: true }),
      refetchInterval: (query: { readonly state: { readonly data?: boolean | undefined } }) =>
        query.state.data === true ? false : REFRESH_MS,
    })),
  });
  return reads.map(({ data, isError }) => data ?? (isError ? null : undefined));
}

function StepRow({ step, isDone }: { step: Step; isDone: boolean }) {
  const { title, advice, action } = t.steps[step.id];
  return (
    <li data-done={isDone || undefined}>
      <span className="box">
        <CheckIcon />
      </span>
      <div>
        <h3>
          {title}
          {isDone && <span className="unseen"> {t.done}</span>}
        </h3>
        <p>{advice}</p>
      </div>
      <Link to={step.path} className="button plain">
        {action}
      </Link>
    </li>
  );
}
