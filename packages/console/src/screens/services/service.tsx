import { mcpServers } from '#text/mcp-servers';
import { services as t } from '#text/services';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone, Facts } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { TestSection } from '../../ui/testing.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import type { Service } from './api.ts';
import { Outcome } from './outcome.tsx';
import { ServiceState } from './services.tsx';

const ConnectService = lazyPart(async () => (await import('./connect-service.tsx')).ConnectService);
const EndService = lazyPart(async () => (await import('./connect-service.tsx')).EndService);

/** A server that one's agents use as oneself: the page that a call without a key leads to. */
export function Screen() {
  const { serverId = '' }: { serverId?: string } = useParams({ strict: false });
  const [dialog, setDialog] = useState<'connect' | 'end'>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['services', 'one', serverId],
    queryFn: async ({ signal }) => {
      const params = { path: { id: serverId } };
      return (await unwrap(identity.GET('/api/v1/mcp-servers/{id}/my-credential', { params, signal })))
        .server;
    },
  });
  const service = query.data;
  return (
    <DetailPage
      query={query}
      title={service?.name ?? t.one}
      intro={t.intro}
      actions={service && <ConnectButton service={service} onPress={() => setDialog('connect')} />}
    >
      <Outcome />
      <QueryView query={query}>{(found) => <ServiceFacts service={found} />}</QueryView>
      {service?.connection && <ServiceTest key={service.connection.connectedAt} serverId={serverId} />}
      {service?.connection && (
        <DangerZone
          acts={[{ label: t.end, hint: t.endWarnings[service.credential.kind], run: () => setDialog('end') }]}
        />
      )}
      {service && dialog === 'connect' && <ConnectService service={service} onClose={close} />}
      {service && dialog === 'end' && <EndService service={service} onClose={close} />}
    </DetailPage>
  );
}

/** Takes a key in a dialog, or leads to where one signs in. */
function ConnectButton({ service, onPress }: { service: Service; onPress: () => void }) {
  const { id, credential, connection } = service;
  const begin = useAction({
    mutationFn: () =>
      unwrap(identity.POST('/api/v1/mcp-servers/{id}/my-credential/sign-in', { params: { path: { id } } })),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const kind = connection?.refusedAt === null ? 'plain' : 'primary';
  if (credential.kind === 'personal')
    return (
      <Button kind={kind} onPress={onPress}>
        {connection ? t.replace : t.connect}
      </Button>
    );
  return (
    <>
      <Button kind={kind} isPending={begin.isPending} onPress={() => begin.mutate()}>
        {connection ? t.signInAgain : t.signIn}
      </Button>
      <ProblemNote error={begin.error} />
    </>
  );
}

/** Where an administrator says that the key is to be had. */
export const KeyHint = ({ credential: { hint, link } }: Service) => (
  <span className="stack">
    {hint}
    {link !== null && (
      <a href={link} target="_blank" rel="noreferrer">
        {t.link}
      </a>
    )}
  </span>
);

function ServiceFacts({ service }: { service: Service }) {
  const { connection, credential, origin } = service;
  const at = (time: string) => <Time key={time} at={time} />;
  return (
    <Facts
      of={[
        [t.columns.state, <ServiceState key="state" service={service} />],
        ...(connection ? [[t.since, at(connection.connectedAt)] as const] : []),
        ...(connection?.refusedAt ? [[t.refusedSince, at(connection.refusedAt)] as const] : []),
        ...(connection
          ? [[t.columns.lastUsed, connection.lastUsedAt ? at(connection.lastUsedAt) : text.never] as const]
          : []),
        [t.origin, <code key="origin">{origin}</code>],
        ...(credential.hint === null && credential.link === null
          ? []
          : [[t.hint, <KeyHint key="hint" {...service} />] as const]),
      ]}
    />
  );
}

/** Finds out whether the server knows oneself. */
function ServiceTest({ serverId }: { serverId: string }) {
  const params = { path: { id: serverId } };
  const test = useAction({
    mutationFn: () =>
      unwrap(identity.POST('/api/v1/mcp-servers/{id}/my-credential/test', { params, ...readOnly })),
  });
  const result = test.data;
  return (
    <TestSection
      actions={
        <Button isPending={test.isPending} onPress={() => test.mutate()}>
          {t.test}
        </Button>
      }
      isPending={test.isPending}
      error={test.error}
      result={
        result && {
          isGood: result.isUsable,
          label: result.isUsable ? t.works : t.fails,
          details: (
            <>
              {result.fault !== null && mcpServers.faults[result.fault]}
              {result.isUsable && t.worksWith(result.tools ?? 0)}
            </>
          ),
        }
      }
    />
  );
}
