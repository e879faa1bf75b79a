import { text } from '../../text/index.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Page } from '../../ui/page.tsx';

const TemplatePreview = lazyPart(async () => (await import('./template-preview.tsx')).TemplatePreview);

/** Every template with data of one's own, as it would be sent. */
export const Screen = () => (
  <Page title={text.templates.title} intro={text.templates.intro}>
    <TemplatePreview />
  </Page>
);
