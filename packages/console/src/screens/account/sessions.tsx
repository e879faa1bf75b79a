import { account } from '#text/account';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { Session } from './api.ts';
import { sessionColumns } from './session-columns.tsx';

const EndSession = lazyPart(async () => (await import('./end-sessions.tsx')).EndSession);
const EndOtherSessions = lazyPart(async () => (await import('./end-sessions.tsx')).EndOtherSessions);

const t = account.sessions;

/** The list of the person's sessions. */
export function Sessions() {
  const [ending, setEnding] = useState<Session | 'others'>();
  const close = (): void => setEnding(undefined);
  const query = useQuery({
    queryKey: ['sessions', 'own'],
    queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/sessions', { signal }))).sessions,
  });
  const hasOthers = query.data?.some(({ current }) => !current);
  const columns = [
    ...sessionColumns,
    createMenuColumn<Session>({
      getName: ({ client }) => client,
      listActions: (session) =>
        session.current ? [] : [{ label: t.end, isDangerous: true, run: () => setEnding(session) }],
    }),
  ];
  return (
    <Section
      title={t.title}
      actions={hasOthers && <Button onPress={() => setEnding('others')}>{t.endOthers}</Button>}
    >
      <QueryView query={query}>
        {(sessions) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={sessions}
            getId={({ id }) => id}
            empty={<Empty title={t.emptyTitle} />}
          />
        )}
      </QueryView>
      {ending === 'others' && <EndOtherSessions onClose={close} />}
      {ending && ending !== 'others' && <EndSession session={ending} onClose={close} />}
    </Section>
  );
}
