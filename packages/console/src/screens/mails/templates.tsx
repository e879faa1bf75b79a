import { text } from '#text/shared';
import { templates } from '#text/templates';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Page } from '../../ui/page.tsx';

const TemplatePreview = lazyPart(async () => (await import('./template-preview.tsx')).TemplatePreview);

/** Every template with data of one's own, as it would be sent. */
export const Screen = () => (
  <Page title={text.screens.templates} intro={templates.intro}>
    <TemplatePreview />
  </Page>
);
