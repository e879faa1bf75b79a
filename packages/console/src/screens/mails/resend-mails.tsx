import { mails as t } from '#text/mails';
import { mail, unwrap } from '../../api/client.ts';
import { BulkDialog } from '../../ui/bulk-dialog.tsx';
import type { MailRecord } from './api.ts';

/** Sends several mails again, unchanged. */
export const ResendMails = ({ mails, onClose }: { mails: readonly MailRecord[]; onClose: () => void }) => (
  <BulkDialog
    title={t.resendSeveral(mails.length)}
    action={t.resendSubmit}
    items={mails}
    changes={['mails']}
    getName={({ subject, to }) => t.nameOf(subject, to.join(', '))}
    act={({ id }) => unwrap(mail.POST('/api/v1/mail/records/{id}/resend', { params: { path: { id } } }))}
    describe={t.resentSeveral}
    onClose={onClose}
  >
    <p>{mails.some(({ state }) => state === 'unknown') ? t.resendUnknown : t.resendFailed}</p>
  </BulkDialog>
);
