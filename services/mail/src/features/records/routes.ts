import { getAccount, requireAdmin, requireScopes, requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, ListPageOf } from '@platform/service-kit';
import {
  ContentResponse,
  ErasureResponse,
  ErasureQuery,
  MailRecord,
  RecordResponse,
  RecordQuery,
} from './schemas.js';
import type { RecordService } from './service.js';

const tags = ['Mail records'];

/** Registers the routes of the mail records. They require an administrator's session, or a token with `SEND_MAIL`. */
export function recordRoutes(app: App, service: RecordService): void {
  const onRequest = [app.authenticate, requireScopes(['SEND_MAIL']), requireAdmin()];
  app.get(
    '/api/v1/mail/records',
    {
      onRequest,
      schema: {
        operationId: 'listMailRecords',
        tags,
        summary:
          'List sent mails, newest first; with `state`, also those in the queue, and failed or unknown ones',
        description:
          'Pages by number, or by `cursor`. A search (`q`) reads at most the 2,000 newest mails in a request. Contents are not in the list.',
        querystring: RecordQuery,
        response: { 200: ListPageOf(MailRecord), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => service.list(getAccount(request).orgId, request.query),
  );
  app.get(
    '/api/v1/mail/records/:id',
    {
      onRequest,
      schema: {
        operationId: 'getMailRecord',
        tags,
        summary: 'Get one mail with its outcome',
        description: 'Has the outcome, with the answer of the SMTP server where it refused.',
        params: IdPath,
        response: { 200: RecordResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ data: await service.get(getAccount(request).orgId, request.params.id) }),
  );
  app.get(
    '/api/v1/mail/records/:id/content',
    {
      onRequest: [app.authenticate, requireSession, requireAdmin()],
      schema: {
        operationId: 'getMailContent',
        tags,
        summary: 'Render a mail again, without its codes and links; for a session of an administrator',
        description: 'A mail whose content was erased, or is no longer kept, is 404.',
        params: IdPath,
        response: { 200: ContentResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      return { data: await service.getContent(getAccount(request).orgId, request.params.id) };
    },
  );
  app.delete(
    '/api/v1/mail/records',
    {
      onRequest,
      schema: {
        operationId: 'eraseMailRecipient',
        tags,
        summary: 'Erase a recipient from all records of the organisation',
        description:
          'For a person who asks to be forgotten: the address is removed from records, and its suppression too. Repeating it erases nothing more. It cannot be undone.',
        querystring: ErasureQuery,
        response: { 200: ErasureResponse, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { orgId, userId, kind, credentialId } = getAccount(request);
      const erased = await service.erase(orgId, request.query.recipient);
      // This line is the audit trail of erasures, so it must not contain the erased address.
      request.log.info(
        { orgId, userId, credential: { kind, id: credentialId }, ...erased },
        'recipient erased from the mail records',
      );
      return { message: 'Recipient erased', ...erased };
    },
  );
}
