import type { SecretBox } from '@platform/service-kit';
import type { Language } from '../../generated/templates.js';
import { hasItems, type InternalTemplateType } from './template-types.js';
import { openJson, sealJson } from '../../sealed-json.js';
import { findKeys, listSources } from './sources.js';

/** Stand for the values that are not kept. A link has to be one for the template. */
const HIDDEN = { code: '••••••', link: 'https://hidden.invalid/' } as const;

/** The part of a mail's data that is kept, so that it can be rendered again for administrators. */
export interface KeptContent {
  readonly templateData: Readonly<Record<string, unknown>>;
  readonly productName?: string;
  readonly language?: Language;
}

interface Content extends KeptContent {
  readonly emailTemplateType: InternalTemplateType;
}

/** Returns the data that the template shows, without codes and links, and without attachments. [MAIL-20] */
function toKeptContent({
  emailTemplateType: type,
  templateData,
  productName,
  language,
}: Content): KeptContent {
  const secrets = new Map<string, string>();
  const kept: Record<string, unknown> = hasItems(type) ? { items: templateData['items'] } : {};
  for (const source of Object.values(listSources(type))) {
    const [key] = findKeys(templateData, source);
    if (key === undefined) continue;
    kept[key] = source.kind === 'text' ? templateData[key] : HIDDEN[source.kind];
    const value = String(templateData[key]).trim();
    if (source.kind !== 'text' && value !== '') secrets.set(value, HIDDEN[source.kind]);
  }
  // A caller may repeat a code or a link elsewhere.
  const hide = (value: unknown): unknown =>
    typeof value === 'string' || typeof value === 'number'
      ? [...secrets].reduce((text, [secret, hidden]) => text.replaceAll(secret, hidden), String(value))
      : value;
  return {
    templateData: Object.fromEntries(Object.entries(kept).map(([key, value]) => [key, hide(value)])),
    ...(productName !== undefined && { productName: String(hide(productName)) }),
    ...(language !== undefined && { language }),
  };
}

/** The context that binds sealed content to its mail. */
export const contentContext = (mailId: string): string => `content ${mailId}`;

export const sealContent = (box: SecretBox, mailId: string, content: Content): string =>
  sealJson(box, toKeptContent(content), contentContext(mailId));

/** @returns undefined when no key opens it. */
export const openContent = (box: SecretBox, mailId: string, sealed: string): KeptContent | undefined =>
  openJson(box, sealed, contentContext(mailId)) as KeptContent | undefined;
