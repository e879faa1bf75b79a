import { mails as t } from '#text/mails';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mail, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { Facts } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import type { MailRecord } from './api.ts';
import { MailContent } from './mail-content.tsx';
import { MailState, nameTemplate } from './mails.tsx';

export function Screen() {
  const { mailId: id = '' }: { mailId?: string } = useParams({ strict: false });
  const [isResending, setResending] = useState(false);
  const query = useQuery({
    queryKey: ['mails', id],
    queryFn: async ({ signal }) =>
      (await unwrap(mail.GET('/api/v1/mail/records/{id}', { params: { path: { id } }, signal }))).data,
  });
  const record = query.data;
  return (
    <DetailPage
      query={query}
      title={record?.subject ?? t.one}
      intro={record && t.explanations[record.state as keyof typeof t.explanations]}
      actions={record?.canResend && <Button onPress={() => setResending(true)}>{t.resend}</Button>}
    >
      <QueryView query={query}>{(found) => <MailFacts record={found} />}</QueryView>
      {record && isOver(record) && !record.canResend && <p className="hint">{t.notResendable}</p>}
      {record && <MailContent record={record} />}
      {isResending && record && <Resend record={record} onClose={() => setResending(false)} />}
    </DetailPage>
  );
}

/** Returns whether somebody may wish to send a mail again. */
const isOver = ({ state }: MailRecord): boolean => state === 'failed' || state === 'unknown';

const MailFacts = ({ record }: { record: MailRecord }) => (
  <Facts
    of={[
      [t.columns.state, <MailState key="state" state={record.state} />],
      [t.columns.at, <Time key="at" at={record.createdAt} as="full" />],
      [t.from, record.from],
      [t.columns.to, record.to.join(', ')],
      ...(record.cc.length > 0 ? [[t.cc, record.cc.join(', ')] as const] : []),
      ...(record.recipients.some(({ outcome }) => isApart(outcome))
        ? [[t.recipients, <Outcomes key="recipients" {...record} />] as const]
        : []),
      [t.template, nameTemplate(record.emailTemplateType)],
      [t.id, <CopyId key="id" value={record.id} label={t.id} />],
      ...(record.failure
        ? ([
            [t.columns.reason, record.failure.message],
            [
              t.serverReply,
              [record.failure.reply, record.failure.status].filter(Boolean).join(' ') || text.none,
            ],
          ] as const)
        : []),
    ]}
  />
);

/** Whether the outcome of a recipient may differ from that of the mail. */
const isApart = (outcome: string): boolean =>
  outcome === 'refused' || outcome === 'deferred' || outcome === 'suppressed';

/** The outcome of the mail for each of its recipients. */
const Outcomes = ({ recipients }: Pick<MailRecord, 'recipients'>) => (
  <span className="stack">
    {recipients.map(({ address, outcome, status }) => (
      <span key={address}>
        {[`${address}: ${t.outcomes[outcome as keyof typeof t.outcomes] ?? outcome}`, status]
          .filter(Boolean)
          .join(' · ')}
      </span>
    ))}
  </span>
);

const Resend = ({ record, onClose }: { record: MailRecord; onClose: () => void }) => (
  <ActionDialog
    title={t.resendTitle(record.to.join(', '))}
    action={t.resendSubmit}
    changes={['mails']}
    act={() => unwrap(mail.POST('/api/v1/mail/records/{id}/resend', { params: { path: { id: record.id } } }))}
    describe={({ data }) => data.data}
    onClose={onClose}
  >
    <p>{record.state === 'unknown' ? t.resendUnknown : t.resendFailed}</p>
  </ActionDialog>
);
