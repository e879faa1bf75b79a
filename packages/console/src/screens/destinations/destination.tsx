import { destinations as t } from '#text/destinations';
import { facts } from '#text/facts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone, Facts } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { TestSection } from '../../ui/testing.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { DESTINATION, type Destination, getName, isFactType } from './api.ts';
import { Deliveries } from './deliveries.tsx';
import { DestinationState } from './destinations.tsx';

const loadDialogs = () => import('./edit-destination.tsx');
const EditDestination = lazyPart(async () => (await loadDialogs()).EditDestination);
const ReplaceSecret = lazyPart(async () => (await loadDialogs()).ReplaceSecret);
const SwitchDestination = lazyPart(async () => (await loadDialogs()).SwitchDestination);
const RemoveDestination = lazyPart(async () => (await loadDialogs()).RemoveDestination);

type Dialog = 'edit' | 'replace' | 'switch' | 'remove';
const REFRESH_MS = 10_000;

/** One destination: whether it works, and what was sent to it. */
export function Screen() {
  const { destinationId: id = '' }: { destinationId?: string } = useParams({ strict: false });
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>();
  const query = useQuery({
    queryKey: ['destinations', 'one', id],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET(DESTINATION, { params: { path: { id } }, signal }))).destination,
    refetchInterval: REFRESH_MS,
  });
  const destination = query.data;
  const props = destination && { destination, onClose: () => setDialog(undefined) };
  return (
    <DetailPage
      query={query}
      title={destination ? getName(destination) : t.one}
      intro={destination?.url}
      actions={
        destination && (
          <>
            <Button onPress={() => setDialog('edit')}>{t.edit}</Button>
            {destination.form === 'webhook' && (
              <Button onPress={() => setDialog('replace')}>{t.replace}</Button>
            )}
            {!destination.isEnabled && <Button onPress={() => setDialog('switch')}>{t.enable}</Button>}
          </>
        )
      }
    >
      <QueryView query={query}>{(found) => <DestinationFacts destination={found} />}</QueryView>
      {destination && <DestinationTest key={destination.url} id={id} />}
      <Deliveries destinationId={id} />
      {destination && (
        <DangerZone
          acts={[
            ...(destination.isEnabled
              ? [{ label: t.disable, hint: t.disableHint, run: () => setDialog('switch') }]
              : []),
            { label: t.remove, hint: t.removeHint, run: () => setDialog('remove') },
          ]}
        />
      )}
      {props && dialog === 'edit' && <EditDestination {...props} />}
      {props && dialog === 'replace' && <ReplaceSecret {...props} />}
      {props && dialog === 'switch' && <SwitchDestination {...props} />}
      {props && dialog === 'remove' && (
        <RemoveDestination
          {...props}
          onRemoved={() => void navigate({ to: '/activity/destinations', ignoreBlocker: true })}
        />
      )}
    </DetailPage>
  );
}

const DestinationFacts = ({ destination }: { destination: Destination }) => (
  <Facts
    of={[
      [t.columns.state, <DestinationState key="state" destination={destination} />],
      ...(destination.failingSince === null
        ? []
        : [[t.since, <Time key="since" at={destination.failingSince} />] as const]),
      [t.form, t.forms[destination.form as keyof typeof t.forms]],
      [
        t.types,
        destination.types.length === 0
          ? t.everything
          : destination.types.map((type) => (isFactType(type) ? facts.types[type] : type)).join(', '),
      ],
      ...(destination.credentialHeader === null ? [] : [[t.header, destination.credentialHeader] as const]),
      [t.id, <CopyId key="id" value={destination.id} label={t.id} />],
    ]}
  />
);

/** Sends a test, and says what became of it. */
function DestinationTest({ id }: { id: string }) {
  const test = useAction({
    mutationFn: () => unwrap(identity.POST(`${DESTINATION}/test`, { params: { path: { id } } })),
    changes: [['destinations']],
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
          isGood: result.isAccepted,
          label: result.isAccepted ? t.works : t.fails,
          details: (
            <>
              {result.fault !== null && t.faults[result.fault]}{' '}
              {result.status !== null && t.status(result.status)} {t.took(result.durationMs)}
            </>
          ),
        }
      }
    />
  );
}
