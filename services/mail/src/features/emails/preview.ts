import { type FaultDetail, validationError } from '@platform/service-kit';
import { type RenderedTemplate, renderTemplate } from '../templates/render.js';
import { createView } from '../templates/view.js';
import { readHeaderText } from './rendered-email.js';
import type { PreviewBody } from './schemas.js';

/** Renders the HTML and text parts as they would be sent. @throws AppError 400 when the data has faults. */
export function preview({ emailTemplateType, templateData, productName }: PreviewBody): RenderedTemplate {
  const faults: FaultDetail[] = [];
  readHeaderText(productName, 'productName', faults);
  const viewed = createView(emailTemplateType, templateData, productName);
  if ('faults' in viewed) faults.push(...viewed.faults);
  if (faults.length > 0 || 'faults' in viewed) throw validationError(faults);
  return renderTemplate(emailTemplateType, viewed.view);
}
