import { connect } from '#text/connect';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { hasRegistration } from '../../api/registration.ts';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Progress } from './attempts.tsx';

const t = connect.attempts;
const REFRESH_MS = 10_000;

/** The latest attempts of members to connect an agent, and the step at which each is stuck. */
export function Screen() {
  const { data: canRegister = true } = useQuery({ queryKey: ['registration'], queryFn: hasRegistration });
  const query = useQuery({
    queryKey: ['agents', 'attempts', 'all'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/agents/attempts/all', { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title={text.screens.attempts} intro={t.allIntro}>
      <QueryView query={query}>
        {(attempts) =>
          attempts.length === 0 ? (
            <Empty title={t.allEmptyTitle} action={<EmptyLink to="/connect" label={connect.title} />}>
              {t.allEmptyAdvice}
            </Empty>
          ) : (
            <Section title={t.title}>
              <ul className="settings">
                {attempts.map((attempt) => (
                  <li key={`${attempt.startedAt} ${attempt.client} ${attempt.userId}`}>
                    <Progress attempt={attempt} canRegister={canRegister} />
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      </QueryView>
    </Page>
  );
}
