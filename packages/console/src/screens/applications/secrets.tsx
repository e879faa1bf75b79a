import { applications } from '#text/applications';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { type Application, type Secret, toDay } from './shape.ts';

const CreateSecret = lazyPart(async () => (await import('./change-secrets.tsx')).CreateSecret);
const RevokeSecret = lazyPart(async () => (await import('./change-secrets.tsx')).RevokeSecret);

const t = applications.secrets;
const MAX_SECRETS = 2;

const columns: readonly DataColumn<Secret>[] = [
  {
    id: 'created',
    label: t.columns.created,
    render: ({ createdAt }) => <Time at={createdAt} as="full" />,
  },
  {
    id: 'lastUsed',
    label: t.columns.lastUsed,
    render: ({ lastUsedAt }) => (lastUsedAt === null ? applications.neverUsed : <Time at={lastUsedAt} />),
  },
];

/** The secrets that an application can sign in with; none of them can be shown again. */
export function Secrets({ application }: { application: Application }) {
  const { clientId, secrets } = application;
  const [dialog, setDialog] = useState<'create' | Secret>();
  const close = (): void => setDialog(undefined);
  const menu = createMenuColumn<Secret>({
    getName: (secret) => t.name(toDay(secret)),
    listActions: (secret) => [{ label: t.revoke, isDangerous: true, run: () => setDialog(secret) }],
  });
  return (
    <Section
      title={t.title}
      actions={
        secrets.length < MAX_SECRETS && <Button onPress={() => setDialog('create')}>{t.create}</Button>
      }
    >
      <DataTable
        label={t.title}
        columns={[...columns, menu]}
        items={secrets}
        getId={({ id }) => id}
        empty={
          <Empty
            title={t.emptyTitle}
            action={<Button onPress={() => setDialog('create')}>{t.addFirst}</Button>}
          >
            {t.emptyAdvice}
          </Empty>
        }
      />
      <p className="hint">{t.intro}</p>
      {dialog === 'create' && <CreateSecret clientId={clientId} onClose={close} />}
      {dialog && dialog !== 'create' && <RevokeSecret clientId={clientId} secret={dialog} onClose={close} />}
    </Section>
  );
}
