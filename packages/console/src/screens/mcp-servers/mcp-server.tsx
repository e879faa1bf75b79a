import { access as accessText } from '#text/access';
import { groups } from '#text/groups';
import { mcpServers as t } from '#text/mcp-servers';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { DangerZone, Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { describeAccess } from '../groups/describe-access.ts';
import { ServerState } from './mcp-servers.tsx';
import { reveal } from '../../ui/reveal.ts';
import { writeRules } from './rules.ts';
import { ServerTest } from './server-test.tsx';
import { describeReceived, isPerAccount, type Server } from './api.ts';
import { Tools } from './tools.tsx';

const Connected = lazyPart(async () => (await import('./connected.tsx')).Connected);
const EditServer = lazyPart(async () => (await import('./edit-server.tsx')).EditServer);
const SwitchServer = lazyPart(async () => (await import('./change-server.tsx')).SwitchServer);
const Usage = lazyPart(async () => (await import('../tools/usage.tsx')).Usage);
const WhoCan = lazyPart(async () => (await import('../access/who-can.tsx')).WhoCan);
const RemoveServer = lazyPart(async () => (await import('./change-server.tsx')).RemoveServer);

/** A server has tools that read and tools that write. */
const SERVER_ACTIONS = ['kb:read', 'semantic:write'];

type Dialog = 'edit' | 'switch' | 'remove';

/** One upstream server: whether it can be used, and which of its tools are in effect. */
export function Screen() {
  const { serverId = '' }: { serverId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['mcp-servers', 'one', serverId],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/mcp-servers/{id}', { params: { path: { id: serverId } }, signal })))
        .server,
  });
  const server = query.data;
  return (
    <DetailPage
      query={query}
      title={server?.name ?? t.one}
      intro={server?.url}
      actions={server && <Actions server={server} onOpen={setDialog} />}
    >
      <QueryView query={query}>{(found) => <ServerFacts server={found} />}</QueryView>
      {server && <ServerTest key={server.url} serverId={serverId} />}
      <Tools serverId={serverId} />
      {server && <Usage of={{ serverId }} />}
      {server && isPerAccount(server) && <Connected serverId={serverId} />}
      {server && (
        <Section title={accessText.title}>
          <WhoCan resource={{ type: 'server', id: server.name }} actions={SERVER_ACTIONS} />
        </Section>
      )}
      {server && server.leftOut.length > 0 && <LeftOut of={server.leftOut} />}
      {server && (
        <DangerZone
          acts={[
            ...(server.isEnabled
              ? [{ label: t.disable, hint: t.disableWarning, run: () => setDialog('switch') }]
              : []),
            { label: t.remove, hint: t.removeWarning, run: () => setDialog('remove') },
          ]}
        />
      )}
      {server && dialog === 'edit' && <EditServer server={server} onClose={close} />}
      {server && dialog === 'switch' && <SwitchServer server={server} onClose={close} />}
      {server && dialog === 'remove' && (
        <RemoveServer
          server={server}
          onRemoved={() => void navigate({ to: '/organisation/mcp-servers', ignoreBlocker: true })}
          onClose={close}
        />
      )}
    </DetailPage>
  );
}

const Actions = ({ server, onOpen }: { server: Server; onOpen: (dialog: Dialog) => void }) => (
  <>
    <Button onPress={() => onOpen('edit')}>{t.edit}</Button>
    {!server.isEnabled && <Button onPress={() => onOpen('switch')}>{t.enable}</Button>}
  </>
);

/** The tools of its list that can't be used, so that nobody looks for them in vain. */
const LeftOut = ({ of }: { of: Server['leftOut'] }) => (
  <Section title={t.leftOut.title}>
    <p>{t.leftOut.hint}</p>
    <ul className="plain-list">
      {of.map(({ name, reason }, index) => (
        <li key={`${index} ${name}`}>
          {name === null ? t.leftOut.noName : <code>{reveal(name)}</code>}
          <small>{t.leftOut.reasons[reason]}</small>
        </li>
      ))}
    </ul>
  </Section>
);

const ServerFacts = ({ server }: { server: Server }) => (
  <Facts
    of={[
      [t.columns.state, <ServerState key="state" server={server} />],
      [t.columns.tools, t.counts(server.tools.offered, server.tools.waiting)],
      [
        t.columns.refreshed,
        server.refreshedAt === null ? text.never : <Time key="refreshed" at={server.refreshedAt} />,
      ],
      [groups.access.label, describeAccess(server.allowedGroups)],
      [t.credential, t.credentials[server.credential.kind]],
      ...(isPerAccount(server)
        ? [
            [
              t.personal.listsWith,
              t.personal.lists[server.credential.hasListingSecret ? 'secret' : 'administrator'],
            ] as const,
          ]
        : []),
      [t.received, describeReceived(server.credential)],
      [t.connectors, server.connectors.length === 0 ? t.noConnectors : server.connectors.join(', ')],
      [
        t.rules,
        server.rules.length === 0 ? (
          t.noRules
        ) : (
          <code key="rules" className="lines">
            {writeRules(server.rules)}
          </code>
        ),
      ],
      [t.id, <CopyId key="id" value={server.id} label={t.id} />],
      ...(server.protocolVersion === null ? [] : [[t.protocol, server.protocolVersion] as const]),
    ]}
  />
);
