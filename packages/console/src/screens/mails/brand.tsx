import { text } from '#text/shared';
import { brand as t } from '#text/brand';
import { useQuery } from '@tanstack/react-query';
import { mail, unwrap } from '../../api/client.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';

const BrandForm = lazyPart(async () => (await import('./brand-form.tsx')).BrandForm);

export function Screen() {
  const query = useQuery({
    queryKey: ['mail-brand'],
    queryFn: ({ signal }) => unwrap(mail.GET('/api/v1/mail/brand', { signal })),
  });
  return (
    <Page title={text.screens.brand} intro={t.intro}>
      <div className="measure">
        <QueryView query={query}>{({ data }) => <BrandForm brand={data} />}</QueryView>
      </div>
    </Page>
  );
}
