import { type FaultDetail, readDomain, readEmailAddress } from '@platform/service-kit';
import type { Brand } from '../brand/brand.js';
import { type RenderedTemplate, renderTemplate } from '../templates/render.js';
import type { InternalTemplateType } from '../templates/template-types.js';
import { createView } from '../templates/view.js';
import { type DecodedAttachment, readAttachments } from './attachments.js';
import type { EmailContent } from './schemas.js';

/** An attachment of a queued mail, which is read while the mail is sent. */
export interface StoredAttachment {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly read: () => AsyncIterable<Buffer>;
}

/** A validated and rendered e-mail that is ready to be sent. */
export interface RenderedEmail extends RenderedTemplate {
  readonly templateType: InternalTemplateType;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly attachments: readonly DecodedAttachment[];
  readonly files?: readonly StoredAttachment[];
  readonly isAutomatic: boolean;
  /** A PNG that the HTML part refers to. */
  readonly logo?: Buffer | undefined;
  readonly replyTo?: string | undefined;
}

/** Returns the approximate size of the e-mail, before the attachments are encoded. */
export const estimateBytes = ({ html, text, attachments, files = [], logo }: RenderedEmail): number =>
  [
    logo?.length ?? 0,
    ...attachments.map(({ content }) => content.length),
    ...files.map(({ bytes }) => bytes),
  ].reduce((sum, bytes) => sum + bytes, html.length + text.length);

/** Matches every character that some software along the way may read as the end of a header line. */
const controlCharacter = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

function readAddresses(addresses: readonly string[], field: string, faults: FaultDetail[]): string[] {
  return addresses.flatMap((text, index) => {
    const address = readEmailAddress(text);
    if (address === undefined)
      faults.push({ field: `${field}.${index}`, message: 'must be an e-mail address' });
    return address ?? [];
  });
}

function readSender(fromEmail: string, domainText: string | undefined, faults: FaultDetail[]): string {
  if (domainText === undefined) return fromEmail;
  const domain = readDomain(domainText);
  if (domain === undefined) faults.push({ field: 'fromEmailDomain', message: 'must be a domain name' });
  return `${fromEmail.slice(0, fromEmail.lastIndexOf('@'))}@${domain ?? ''}`;
}

export function readHeaderText(text: string | undefined, field: string, faults: FaultDetail[]): void {
  if (text === undefined) return;
  if (controlCharacter.test(text)) faults.push({ field, message: 'must not hold control characters' });
  else if (text.trim() === '') faults.push({ field, message: 'must not be blank' });
}

/**
 * Validates and renders a body that matches the schema.
 *
 * @param fromEmail - the configured sender.
 * @param brand - of the organisation.
 * @returns the e-mail, or all faults of the body.
 */
export async function renderEmail(
  body: EmailContent,
  fromEmail: string,
  brand: Brand,
): Promise<{ readonly email: RenderedEmail } | { readonly faults: readonly FaultDetail[] }> {
  const faults: FaultDetail[] = [];
  const to = readAddresses(body.sendEmailTo, 'sendEmailTo', faults);
  const cc = readAddresses(body.sendCcTo ?? [], 'sendCcTo', faults);
  const from = readSender(fromEmail, body.fromEmailDomain, faults);
  readHeaderText(body.subject, 'subject', faults);
  const { language = brand.language } = body;
  readHeaderText(body.productName, 'productName', faults);
  const viewed = createView(body.emailTemplateType, body.templateData, {
    productName: body.productName,
    brand,
    language,
  });
  if ('faults' in viewed) faults.push(...viewed.faults);
  const attached = await readAttachments(body.attachments ?? []);
  if ('faults' in attached) faults.push(...attached.faults);
  if (faults.length > 0 || 'faults' in viewed || 'faults' in attached) return { faults };
  const rendered = renderTemplate(body.emailTemplateType, viewed.view, language);
  return {
    email: {
      ...rendered,
      templateType: body.emailTemplateType,
      subject: body.subject?.trim() ?? rendered.subject,
      from,
      to,
      cc,
      attachments: attached.decoded,
      isAutomatic: body.isAutoEmail ?? false,
      logo: brand.logo?.png,
      replyTo: brand.replyTo,
    },
  };
}
