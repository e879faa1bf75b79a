import { compiledTemplates, type Language } from '../../generated/templates.js';
import type { InternalTemplateType } from './template-types.js';
import type { Brand } from '../brand/brand.js';
import { DEFAULT_LANGUAGE, LOGO_ID, type View } from './view.js';

const needsEscape = /[&<>"'`]|[^\x20-\x7e]/u;
const escapable = /[&<>"'`]|[^\x20-\x7e]/gu;

/**
 * Escapes a value for element content and for quoted attributes. Characters outside ASCII become character references, so
 * that the HTML part is always ASCII.
 */
const escapeHtml = (value: string): string =>
  needsEscape.test(value) ? value.replace(escapable, (char) => `&#${char.codePointAt(0) ?? 0};`) : value;

/** A longer value is put on separate lines. */
const MAX_INLINE = 60;

/** Breaks long lines at spaces. A link stays whole. */
const wrapLines = (text: string): string =>
  text.replaceAll(/^.{77,}$/gm, (line) => line.replaceAll(/(.{1,76})(?: +|$)/g, '$1\n').trimEnd());

/** So a sentence in the HTML part has short lines, as its literals have. */
const toHtml = (value: string): string => {
  const escaped = escapeHtml(value);
  return escaped.length > MAX_INLINE && escaped.includes(' ') ? `\n${wrapLines(escaped)}\n` : escaped;
};

export interface RenderedTemplate {
  /** That of the template. */
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

const escapeValues = <T extends Readonly<Record<string, unknown>>>(values: T): T =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? toHtml(value) : value]),
  ) as T;

/** Joins the precompiled literals with the values. This takes a few microseconds and does no I/O. */
export function renderTemplate(
  type: InternalTemplateType,
  view: View,
  language: Language = DEFAULT_LANGUAGE,
): RenderedTemplate {
  const template = compiledTemplates[language][type];
  const escaped = { ...escapeValues(view), items: view.items.map(escapeValues) };
  return {
    subject: template.subject(view),
    html: template.html(escaped),
    text: wrapLines(template.text(view)),
  };
}

/** Puts the logo into the HTML itself, for a browser that shows the mail and has no attachments. */
export const inlineLogo = ({ html, ...parts }: RenderedTemplate, { logo }: Brand): RenderedTemplate => ({
  ...parts,
  html: logo ? html.replace(`cid:${LOGO_ID}`, `data:image/png;base64,${logo.png.toString('base64')}`) : html,
});
