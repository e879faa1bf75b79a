import { endpoints as t } from '#text/endpoints';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { type Endpoint, endpointsQuery, useInstanceNames } from './api.ts';

const loadDialogs = () => import('./change-endpoint.tsx');
const CreateEndpoint = lazyPart(async () => (await loadDialogs()).CreateEndpoint);
const RemoveEndpoint = lazyPart(async () => (await loadDialogs()).RemoveEndpoint);
const RotateSecret = lazyPart(async () => (await loadDialogs()).RotateSecret);
const TestEndpoint = lazyPart(async () => (await loadDialogs()).TestEndpoint);

const getName = ({ description, url }: Endpoint): string => description || url;

const createColumns = (nameInstance: (key: string) => string): readonly DataColumn<Endpoint>[] => [
  {
    id: 'endpoint',
    label: t.columns.endpoint,
    render: ({ description, url }) => (
      <span className="stack">
        <span className="strong">{description || url}</span>
        {description !== '' && <small>{url}</small>}
      </span>
    ),
  },
  {
    id: 'connectors',
    label: t.columns.connectors,
    isSecondary: true,
    render: ({ connectors }) => connectors.map(nameInstance).join(', ') || t.unused,
  },
  {
    id: 'rotated',
    label: t.columns.rotated,
    isSecondary: true,
    render: ({ rotatedAt, createdAt }) => <Time at={rotatedAt ?? createdAt} as="day" />,
  },
];

interface Opened {
  readonly act: 'test' | 'rotate' | 'remove';
  readonly endpoint: Endpoint;
}

/** The endpoints of the organisation; an organisation has at most 50. */
export function Screen() {
  const query = useQuery(endpointsQuery);
  const [opened, setOpened] = useState<Opened>();
  const nameInstance = useInstanceNames();
  const all = useMemo(() => {
    const menu = createMenuColumn<Endpoint>({
      getName,
      listActions: (endpoint) => [
        { label: t.test, run: () => setOpened({ act: 'test', endpoint }) },
        { label: t.rotate, run: () => setOpened({ act: 'rotate', endpoint }) },
        { label: t.remove, isDangerous: true, run: () => setOpened({ act: 'remove', endpoint }) },
      ],
    });
    return [...createColumns(nameInstance), menu];
  }, [nameInstance]);
  const props = opened && {
    endpoint: opened.endpoint,
    name: getName(opened.endpoint),
    onClose: () => setOpened(undefined),
  };
  return (
    <Page
      title={text.screens.endpoints}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateEndpoint} />}
    >
      <QueryView query={query}>
        {(known) => (
          <DataTable
            label={text.screens.endpoints}
            columns={all}
            items={known}
            getId={({ endpointId }) => endpointId}
            empty={
              <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
                {t.emptyAdvice}
              </Empty>
            }
          />
        )}
      </QueryView>
      {props && opened.act === 'test' && <TestEndpoint {...props} />}
      {props && opened.act === 'rotate' && <RotateSecret {...props} />}
      {props && opened.act === 'remove' && <RemoveEndpoint {...props} />}
    </Page>
  );
}
