import { audit as t } from '#text/audit';
import { text } from '#text/shared';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { describeCredential, type NamedEntry, nameOf } from './audit-columns.tsx';
import { describeAction, listChanges } from './describe-entry.ts';

/** All that the log has of one act. */
export function EntryDialog({ item: { entry, names }, onClose }: { item: NamedEntry; onClose: () => void }) {
  const { actorId, subjectId, credential, address, userAgent, reason, createdAt } = entry;
  return (
    <ModalDialog title={describeAction(entry.action)} isWide onClose={onClose}>
      <Facts
        of={[
          [t.columns.when, <Time key="when" at={createdAt} as="exact" />],
          [t.columns.actor, actorId === null ? t.platform : nameOf(actorId, names)],
          ...(credential ? [[t.credential, describeCredential(credential, names)] as const] : []),
          ...(address ? [[t.address, address] as const] : []),
          ...(userAgent ? [[t.userAgent, userAgent] as const] : []),
          ...(subjectId === null
            ? []
            : [
                [t.target, nameOf(subjectId, names)] as const,
                [t.targetId, <CopyId key="target" value={subjectId} label={t.targetId} />] as const,
              ]),
          ...listChanges(entry),
          ...(reason === null ? [] : [[t.reason, reason] as const]),
        ]}
      />
      <div className="actions">
        <Button kind="primary" autoFocus onPress={onClose}>
          {text.close}
        </Button>
      </div>
    </ModalDialog>
  );
}
