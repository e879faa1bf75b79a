import { hooks as t } from '#text/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { type Hook, hooksQuery } from './api.ts';

const loadDialogs = () => import('./change-hook.tsx');
const CreateHook = lazyPart(async () => (await loadDialogs()).CreateHook);
const HookAddress = lazyPart(async () => (await loadDialogs()).HookAddress);
const RemoveHook = lazyPart(async () => (await loadDialogs()).RemoveHook);
const RotateHook = lazyPart(async () => (await loadDialogs()).RotateHook);

const getName = ({ description, kind }: Hook): string => description || t.kinds[kind];

const columns: readonly DataColumn<Hook>[] = [
  {
    id: 'hook',
    label: t.columns.hook,
    render: ({ description, kind }) => (
      <span className="stack">
        <span className="strong">{description || t.kinds[kind]}</span>
        {description !== '' && <small>{t.kinds[kind]}</small>}
      </span>
    ),
  },
  {
    id: 'rung',
    label: t.columns.rung,
    render: ({ lastRungAt }) => (lastRungAt === null ? t.never : <Time at={lastRungAt} />),
  },
  {
    id: 'rotated',
    label: t.columns.rotated,
    isSecondary: true,
    render: ({ rotatedAt, createdAt }) => <Time at={rotatedAt ?? createdAt} as="day" />,
  },
];

interface Opened {
  readonly act: 'address' | 'rotate' | 'remove';
  readonly hook: Hook;
}

/** The hooks of a connector; it has at most 10. */
export function Hooks({ connector }: { connector: string }) {
  const query = useQuery(hooksQuery(connector));
  const [isCreating, setIsCreating] = useState(false);
  const [opened, setOpened] = useState<Opened>();
  const all = useMemo(() => {
    const menu = createMenuColumn<Hook>({
      getName,
      listActions: (hook) => [
        { label: t.copyAddress, run: () => setOpened({ act: 'address', hook }) },
        { label: t.rotate, run: () => setOpened({ act: 'rotate', hook }) },
        { label: t.remove, isDangerous: true, run: () => setOpened({ act: 'remove', hook }) },
      ],
    });
    return [...columns, menu];
  }, []);
  const create = (label: string) => <Button onPress={() => setIsCreating(true)}>{label}</Button>;
  const props = opened && {
    connector,
    hook: opened.hook,
    name: getName(opened.hook),
    onClose: () => setOpened(undefined),
  };
  return (
    <Section title={t.title} actions={query.data?.length ? create(t.create) : undefined}>
      <p className="hint">{t.intro}</p>
      <QueryView query={query}>
        {(known) => (
          <DataTable
            label={t.title}
            columns={all}
            items={known}
            getId={({ hookId }) => hookId}
            empty={
              <Empty title={t.emptyTitle} action={create(t.createFirst)}>
                {t.emptyAdvice}
              </Empty>
            }
          />
        )}
      </QueryView>
      {isCreating && <CreateHook connector={connector} onClose={() => setIsCreating(false)} />}
      {props && opened.act === 'address' && <HookAddress {...props} />}
      {props && opened.act === 'rotate' && <RotateHook {...props} />}
      {props && opened.act === 'remove' && <RemoveHook {...props} />}
    </Section>
  );
}
