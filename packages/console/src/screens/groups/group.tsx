import { groups as t } from '#text/groups';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone, Facts, Section, Settings } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { type Group, usesQuery } from './api.ts';
import { GroupMembers } from './group-members.tsx';

const EditGroup = lazyPart(async () => (await import('./change-group.tsx')).EditGroup);
const RemoveGroup = lazyPart(async () => (await import('./change-group.tsx')).RemoveGroup);

/** One group: who is in it, and what is limited to it. */
export function Screen() {
  const { groupId = '' }: { groupId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'remove'>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['groups', 'one', groupId],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/groups/{groupId}', { params: { path: { groupId } }, signal })))
        .group,
  });
  const group = query.data;
  return (
    <DetailPage
      query={query}
      title={group?.name ?? t.one}
      actions={group?.source === 'manual' && <Button onPress={() => setDialog('edit')}>{t.edit}</Button>}
    >
      <QueryView query={query}>
        {(found) => (
          <>
            <GroupFacts group={found} />
            <GroupMembers group={found} />
            <GroupUses groupId={groupId} />
          </>
        )}
      </QueryView>
      {group && (
        <DangerZone acts={[{ label: t.remove, hint: t.removeWarning, run: () => setDialog('remove') }]} />
      )}
      {group && dialog === 'edit' && <EditGroup group={group} onClose={close} />}
      {group && dialog === 'remove' && (
        <RemoveGroup
          group={group}
          onRemoved={() => void navigate({ to: '/organisation/groups', ignoreBlocker: true })}
          onClose={close}
        />
      )}
    </DetailPage>
  );
}

const GroupFacts = ({ group: { id, source, externalId, createdAt } }: { group: Group }) => (
  <Facts
    of={[
      [
        t.columns.source,
        <span key="source" className="stack">
          {t.sources[source as keyof typeof t.sources]}
          {source === 'provider' && <small>{t.sourceHint}</small>}
        </span>,
      ],
      [t.externalId, externalId ?? text.none],
      [t.id, <CopyId key="id" value={id} label={t.id} />],
      [t.columns.created, <Time key="created" at={createdAt} as="day" />],
    ]}
  />
);

function GroupUses({ groupId }: { groupId: string }) {
  const query = useQuery(usesQuery(groupId));
  return (
    <Section title={t.uses.title}>
      <QueryView query={query}>
        {(uses) =>
          uses.length === 0 ? (
            <p className="quiet-text">{t.uses.empty}</p>
          ) : (
            <Settings>
              {uses.map(({ serverId, server, tool, isOnly }) => (
                <li key={tool ?? server}>
                  <div>
                    <h3>{tool ?? server}</h3>
                    {tool === null && <p>{t.uses.all}</p>}
                  </div>
                  <Badge tone={isOnly ? 'notice' : 'neutral'}>{isOnly ? t.uses.only : t.uses.others}</Badge>
                  <Link
                    to="/organisation/mcp-servers/$serverId"
                    params={{ serverId }}
                    className="button plain"
                    aria-label={t.uses.openThing(tool ?? server)}
                  >
                    {t.uses.open}
                  </Link>
                </li>
              ))}
            </Settings>
          )
        }
      </QueryView>
    </Section>
  );
}
