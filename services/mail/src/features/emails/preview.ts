import { validationError } from '@platform/service-kit';
import type { Brands } from '../brand/brand.js';
import { inlineLogo, type RenderedTemplate, renderTemplate } from '../templates/render.js';
import { createView } from '../templates/view.js';
import type { PreviewBody } from './schemas.js';

/**
 * Creates the function that renders the HTML and text parts as they would be sent, with the organisation's brand. The logo
 * is in the HTML, because a preview has no attachments.
 */
export const createPreview =
  (brands: Pick<Brands, 'get'>) =>
  /** @throws AppError 400 when the data has faults. */
  async (
    orgId: string,
    { emailTemplateType, templateData, productName, language }: PreviewBody,
  ): Promise<RenderedTemplate> => {
    const brand = await brands.get(orgId);
    const viewed = createView(emailTemplateType, templateData, { productName, brand, language });
    if ('faults' in viewed) throw validationError(viewed.faults);
    return inlineLogo(renderTemplate(emailTemplateType, viewed.view, language ?? brand.language), brand);
  };
