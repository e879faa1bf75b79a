import { account } from '#text/account';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import type { Session } from './api.ts';

const t = account.sessions;

export const EndSession = ({ session, onClose }: { session: Session; onClose: () => void }) => (
  <ActionDialog
    title={t.endTitle(session.client)}
    action={t.endSubmit}
    isDangerous
    changes={['sessions']}
    act={() =>
      unwrap(identity.DELETE('/api/v1/sessions/{sessionId}', { params: { path: { sessionId: session.id } } }))
    }
    describe={() => t.ended}
    onClose={onClose}
  >
    <p>{t.endWarning}</p>
  </ActionDialog>
);

export const EndOtherSessions = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.endOthersTitle}
    action={t.endOthersSubmit}
    isDangerous
    changes={['sessions']}
    act={() => unwrap(identity.DELETE('/api/v1/sessions'))}
    describe={({ endedCount }) => t.othersEnded(endedCount)}
    onClose={onClose}
  >
    <p>{t.endOthersWarning}</p>
  </ActionDialog>
);
