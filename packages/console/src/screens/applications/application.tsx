import { applications as t } from '#text/applications';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { DangerZone, Facts } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { ScopeWords } from '../../ui/scope-words.tsx';
import { describeBounds } from '../tokens/bounds.ts';
import { Time } from '../../ui/time.tsx';
import { Secrets } from './secrets.tsx';
import { type Application, type AuthMethod, getAccess } from './shape.ts';

const EditApplication = lazyPart(async () => (await import('./change-application.tsx')).EditApplication);
const SwitchApplication = lazyPart(async () => (await import('./change-application.tsx')).SwitchApplication);
const RemoveApplication = lazyPart(async () => (await import('./change-application.tsx')).RemoveApplication);

type Dialog = 'edit' | 'switch' | 'remove';

/** Shows one application: its access, how it authenticates, and how to disable or remove it. */
export function Screen() {
  const { clientId = '' }: { clientId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  const query = useQuery({
    queryKey: ['applications', 'one', clientId],
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          identity.GET('/api/v1/oauth-applications/{clientId}', { params: { path: { clientId } }, signal }),
        )
      ).application,
  });
  const application = query.data;
  return (
    <DetailPage
      query={query}
      title={application?.name ?? t.one}
      actions={application && <Actions application={application} onOpen={setDialog} />}
    >
      <QueryView query={query}>
        {(found) => (
          <>
            <ApplicationFacts application={found} />
            {found.authMethod === 'client_secret_basic' && <Secrets application={found} />}
          </>
        )}
      </QueryView>
      {application && (
        <DangerZone
          acts={[
            ...(application.isDisabled
              ? []
              : [{ label: t.disable, hint: t.disableWarning, run: () => setDialog('switch') }]),
            { label: t.remove, hint: t.removeWarning, run: () => setDialog('remove') },
          ]}
        />
      )}
      {application && dialog === 'edit' && <EditApplication application={application} onClose={close} />}
      {application && dialog === 'switch' && <SwitchApplication application={application} onClose={close} />}
      {application && dialog === 'remove' && (
        <RemoveApplication
          application={application}
          onRemoved={() => void navigate({ to: '/organisation/applications', ignoreBlocker: true })}
          onClose={close}
        />
      )}
    </DetailPage>
  );
}

interface ActionsProps {
  readonly application: Application;
  onOpen(dialog: Dialog): void;
}

const Actions = ({ application, onOpen }: ActionsProps) => (
  <>
    <Button onPress={() => onOpen('edit')}>{t.edit}</Button>
    {application.isDisabled && <Button onPress={() => onOpen('switch')}>{t.enable}</Button>}
  </>
);

function ApplicationFacts({ application }: { application: Application }) {
  const {
    clientId,
    isDisabled,
    scopes,
    redirectUris,
    authMethod,
    serviceAccount,
    bounds,
    createdAt,
    lastUsedAt,
  } = application;
  const { label } = t.accessKinds[getAccess(application)];
  return (
    <Facts
      of={[
        [
          t.columns.state,
          <Badge key="state" tone={isDisabled ? 'notice' : 'good'}>
            {isDisabled ? t.states.disabled : t.states.active}
          </Badge>,
        ],
        [t.clientId, <CopyId key="id" value={clientId} label={t.clientId} />],
        [t.columns.access, label],
        [t.authMethod, t.authMethods[authMethod as AuthMethod] ?? authMethod],
        [t.scopes, <ScopeWords key="scopes" scopes={scopes} />],
        ...(redirectUris.length === 0 ? [] : [[t.redirectUris, redirectUris.join(' ')] as const]),
        ...(serviceAccount === null
          ? []
          : [
              [t.serviceAccount, text.roles[serviceAccount.role as keyof typeof text.roles]] as const,
              [t.ownBounds, describeBounds(bounds) || t.noBounds] as const,
            ]),
        [t.columns.created, <Time key="created" at={createdAt} as="day" />],
        [t.columns.lastUsed, lastUsedAt === null ? t.neverUsed : <Time key="used" at={lastUsedAt} />],
      ]}
    />
  );
}
