import { mails } from '#text/mails';
import { templates } from '#text/templates';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mail, unwrap } from '../../api/client.ts';
import { Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { MailRecord } from './api.ts';
import { RenderedMail } from './rendered-mail.tsx';
import { fieldsOf, type TemplateType } from './template-fields.ts';

const t = mails.content;

/** A sent message, without its codes and links: those are not kept. */
export function MailContent({ record }: { record: MailRecord }) {
  const { id, state, subject, canResend } = record;
  const query = useQuery({
    queryKey: ['mails', id, 'content', state],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await unwrap(mail.GET('/api/v1/mail/records/{id}/content', { params, signal }))).data;
    },
  });
  return (
    <Section title={t.title}>
      <QueryView query={query}>
        {(content) =>
          content === null ? (
            <NotKept record={record} />
          ) : (
            <>
              <p className="hint">
                {t.rendered} {canResend && t.keptForResend}
              </p>
              <RenderedMail title={subject} mail={content} />
            </>
          )
        }
      </QueryView>
    </Section>
  );
}

const NotKept = ({ record: { emailTemplateType: type, canResend } }: { record: MailRecord }) => (
  <p className="hint">
    {t.notKept} {canResend && t.keptForResend}{' '}
    {type in fieldsOf && (
      <Link to="/mails/templates" search={{ template: type }}>
        {templates.types[type as TemplateType]}
      </Link>
    )}
  </p>
);
