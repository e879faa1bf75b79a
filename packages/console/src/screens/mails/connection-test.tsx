import { text } from '#text/shared';
import { smtp as t } from '#text/smtp';
import type { MailSchemas } from '@platform/clients/types';
import { Link } from '@tanstack/react-router';
import { mail, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Problem } from '../../api/problem.ts';
import { readOnly } from '../../api/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Testing } from '../../ui/testing.tsx';
import { useAction } from '../../ui/use-action.ts';

export type TestedSmtp = NonNullable<MailSchemas['schemas']['TestConnectionBody']>['smtp'];

interface ConnectionTestProps {
  readonly formId: string;
  /** Returns the configuration that is typed; undefined if it is the saved one. */
  read(form: FormData): TestedSmtp | undefined;
}

/** Connects to the server that is typed as a mail would, and says what is wrong and what to do. */
export function ConnectionTest({ formId, read }: ConnectionTestProps) {
  const test = useAction({
    mutationFn: (smtp: ReturnType<typeof read>) =>
      unwrap(mail.POST('/api/v1/mail/testConnection', { ...(smtp && { body: { smtp } }), ...readOnly })),
  });
  const start = (form: HTMLFormElement): void => {
    const typed = read(new FormData(form));
    if (!typed || form.reportValidity()) test.mutate(typed);
  };
  const report = test.data;
  return (
    <section className="panel" aria-label={t.test}>
      <h2>{t.test}</h2>
      <p className="quiet-text">{t.testIntro}</p>
      <Button
        form={formId}
        isPending={test.isPending}
        onPress={({ target }) => {
          if (target instanceof HTMLButtonElement && target.form) start(target.form);
        }}
      >
        {t.testSubmit}
      </Button>
      <Testing isPending={test.isPending} />
      <ProblemNote error={test.error} />
      {report && (
        <div role="status" className="form">
          <Facts
            of={[
              [
                t.result,
                <Badge key="result" tone={report.ok ? 'good' : 'bad'}>
                  {report.ok ? t.works : t.fails}
                </Badge>,
              ],
              [t.server, report.server],
              [t.encryption, report.tls ? t.encryptions[report.tls] : t.encryptions.none],
              [t.signedIn, report.authenticated ? text.yes : text.no],
            ]}
          />
          {report.problem && (
            <p className="problem">
              {report.problem.message}. {report.problem.advice}
            </p>
          )}
          {report.warnings.map((warning) => (
            <p key={warning} className="warning">
              {warning}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}

/** Sends a mail to the person through the saved server. */
export function TestMail() {
  const { email } = useMe();
  const send = useAction({
    mutationFn: () => unwrap(mail.POST('/api/v1/mail/testMail')),
    changes: [['list']],
  });
  return (
    <section className="panel" aria-label={t.testMail}>
      <h2>{t.testMail}</h2>
      <p className="quiet-text">{t.sendTestIntro(email)}</p>
      <Button isPending={send.isPending} onPress={() => send.mutate()}>
        {t.sendTest}
      </Button>
      <ProblemNote error={send.error} />
      {send.error instanceof Problem && send.error.status === 500 && (
        <Link to="/mails" search={{ state: 'failed' }}>
          {t.sendTestWhy}
        </Link>
      )}
      {send.isSuccess && <p role="status">{t.sendTestDone(email)}</p>}
    </section>
  );
}
