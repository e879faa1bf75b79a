import { text } from '#text/shared';
import { smtp as t } from '#text/smtp';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { Smtp } from './api.ts';

const SmtpSettings = lazyPart(async () => (await import('./smtp-form.tsx')).SmtpSettings);

/** An organisation without a configuration has a form to fill in, not an error. */
async function loadSmtp(signal: AbortSignal): Promise<Smtp | null> {
  try {
    return (await unwrap(identity.GET('/api/v1/configurationManager/smtpConfig', { signal }))).smtp;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

export function Screen() {
  const query = useQuery({ queryKey: ['smtp'], queryFn: ({ signal }) => loadSmtp(signal) });
  return (
    <Page title={text.screens.smtp} intro={t.intro}>
      <QueryView query={query}>{(smtp) => <SmtpSettings smtp={smtp} />}</QueryView>
    </Page>
  );
}
