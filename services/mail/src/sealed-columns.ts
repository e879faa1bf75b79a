import type { SealedColumn } from '@platform/service-kit';
import { pieceContext, requestContext } from './features/emails/stored-request.js';
import { tokenContext } from './features/smtp-oauth/tokens.js';
import { contentContext } from './features/templates/kept-content.js';

const toMailColumn = (column: string, toContext: (id: string) => string): SealedColumn => ({
  table: 'mails',
  key: { id: 'uuid' },
  column,
  toContext: ({ id = '' }) => toContext(id),
});

const toTokenColumn = (column: string, what: 'access' | 'refresh'): SealedColumn => ({
  table: 'smtp_tokens',
  key: { org_id: 'uuid', fingerprint: 'text' },
  column,
  toContext: ({ org_id: orgId = '', fingerprint = '' }) => tokenContext(what, { orgId, fingerprint }),
});

/** The columns whose values are sealed with `ENCRYPTION_KEYS`, by what they hold. */
export const sealedColumns: Readonly<Record<string, SealedColumn>> = {
  'queued mails': toMailColumn('sealed_request', requestContext),
  attachments: {
    table: 'mail_attachments',
    key: { mail_id: 'uuid', attachment: 'integer', piece: 'integer' },
    column: 'sealed',
    isBytes: true,
    toContext: ({ mail_id: id = '', attachment = '', piece = '' }) => pieceContext(id, attachment, piece),
  },
  'contents of mails': toMailColumn('sealed_content', contentContext),
  'access tokens of SMTP servers': toTokenColumn('sealed_token', 'access'),
  'refresh tokens of SMTP servers': toTokenColumn('sealed_refresh_token', 'refresh'),
};
