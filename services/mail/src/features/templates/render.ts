import { compiledTemplates } from '../../generated/templates.js';
import type { InternalTemplateType } from './template-types.js';
import type { Brand } from '../brand/brand.js';
import { LOGO_ID, type View } from './view.js';

const needsEscape = /[&<>"'`]|[^\x20-\x7e]/u;
const escapable = /[&<>"'`]|[^\x20-\x7e]/gu;

/**
 * Escapes a value for element content and for quoted attributes. Characters outside ASCII become character references, so
 * that the HTML part is always ASCII.
 */
const escapeHtml = (value: string): string =>
  needsEscape.test(value) ? value.replace(escapable, (char) => `&#${char.codePointAt(0) ?? 0};`) : value;

export interface RenderedTemplate {
  readonly html: string;
  readonly text: string;
}

const escapeValues = <T extends Readonly<Record<string, unknown>>>(values: T): T =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? escapeHtml(value) : value,
    ]),
  ) as T;

/** Joins the precompiled literals with the values. This takes a few microseconds and does no I/O. */
export function renderTemplate(type: InternalTemplateType, view: View): RenderedTemplate {
  const template = compiledTemplates[type];
  const escaped = { ...escapeValues(view), items: view.items.map(escapeValues) };
  return { html: template.html(escaped), text: template.text(view) };
}

/** Puts the logo into the HTML itself, for a browser that shows the mail and has no attachments. */
export const inlineLogo = ({ html, text }: RenderedTemplate, { logo }: Brand): RenderedTemplate => ({
  html: logo ? html.replace(`cid:${LOGO_ID}`, `data:image/png;base64,${logo.png.toString('base64')}`) : html,
  text,
});
