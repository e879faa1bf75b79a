import { type FaultDetail, readDomain, readEmailAddress } from '@platform/service-kit';
import type { Brand } from '../brand/brand.js';
import { type RenderedTemplate, renderTemplate } from '../templates/render.js';
import type { InternalTemplateType } from '../templates/template-types.js';
import { createView } from '../templates/view.js';
import { type DecodedAttachment, readAttachments } from './attachments.js';
import type { EmailContent } from './schemas.js';
import type { StoredFile } from './stored-request.js';

/** An attachment of a queued mail, which is read while the mail is sent. */
export interface StoredAttachment extends StoredFile {
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

/** Converts the domain to its ASCII form. */
const toAddress = (text: string): string => readEmailAddress(text) ?? text;

const toSender = (fromEmail: string, domain: string | undefined): string =>
  domain === undefined
    ? fromEmail
    : `${fromEmail.slice(0, fromEmail.lastIndexOf('@'))}@${readDomain(domain) ?? domain}`;

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
  const { language = brand.language } = body;
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
      from: toSender(fromEmail, body.fromEmailDomain),
      to: body.sendEmailTo.map(toAddress),
      cc: (body.sendCcTo ?? []).map(toAddress),
      attachments: attached.decoded,
      isAutomatic: body.isAutoEmail ?? false,
      logo: brand.logo?.png,
      replyTo: brand.replyTo,
    },
  };
}
