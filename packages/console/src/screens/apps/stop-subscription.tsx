import { apps } from '#text/apps';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import type { EventSubscription } from './api.ts';
import { describeEvent } from './subscriptions.tsx';

const t = apps.subscriptions;

interface StopSubscriptionProps {
  readonly subscription: EventSubscription;
  /** Whose agent it is, when an administrator ends it; undefined: one's own. */
  readonly owner?: string;
  onClose(): void;
}

/** One's own subscriptions and those of the organisation are ended at different paths. */
const stopAt = (isOwn: boolean, id: string) => {
  const options = { params: { path: { id } } };
  return unwrap(
    isOwn
      ? identity.DELETE('/api/v1/events/subscriptions/{id}', options)
      : identity.DELETE('/api/v1/events/subscriptions/admin/{id}', options),
  );
};

export const StopSubscription = ({ subscription, owner, onClose }: StopSubscriptionProps) => (
  <ActionDialog
    title={t.stopTitle(subscription.host, owner)}
    action={t.stopSubmit}
    isDangerous
    changes={['apps', 'subscriptions']}
    act={() => stopAt(owner === undefined, subscription.id)}
    describe={() => t.stopped(describeEvent(subscription))}
    onClose={onClose}
  >
    <p>{t.stopWarning(describeEvent(subscription))}</p>
  </ActionDialog>
);
