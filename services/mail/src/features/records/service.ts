import { describeProblem, type SmtpProblem } from '@platform/events/facts';
import {
  firstIdAt,
  type ListPage,
  notFound,
  readEmailAddress,
  type SecretBox,
  toPagination,
} from '@platform/service-kit';
import type { Brand, Brands } from '../brand/brand.js';
import { isPermanentRefusal } from '../delivery/outcome.js';
import { hasOutcome, mailStates } from '../queue/mail.js';
import { type KeptContent, openContent } from '../templates/kept-content.js';
import { inlineLogo, renderTemplate } from '../templates/render.js';
import { internalTemplateTypes, isInternalTemplateType } from '../templates/template-types.js';
import { createView } from '../templates/view.js';
import { type Erased, eraseRecipient } from '../queue/erasure.sql.js';
import {
  countMatches,
  findIdsBefore,
  findMatchingIds,
  findSearchedTo,
  type FoundIds,
  MAX_MATCHES,
  type RecordFilter,
} from './filtered.queries.js';
import type { Resources } from '../../resources.js';
import { findByIds, findContent, type RecordRow } from './queries.js';
import type { Failure, MailContent, MailRecord, RecordQuery } from './schemas.js';

/** Returns the recipient's own outcome, or else one by the state of the mail. */
const toOutcome = (state: RecordRow['state'], outcome: string | null): string => {
  if (outcome !== null) return outcome;
  if (state === 'sent') return 'accepted';
  return state === 'failed' || state === 'unknown' ? state : 'pending';
};

function toRecipients({ state, toAddresses, ccAddresses, recipients }: RecordRow): MailRecord['recipients'] {
  const found = new Map(recipients.map((one) => [one.address, one]));
  return [...new Set([...toAddresses, ...ccAddresses])].map((address) => {
    const { outcome = null, status = null } = found.get(address.toLowerCase()) ?? {};
    return { address, outcome: toOutcome(state, outcome), ...(status !== null && { status }) };
  });
}

/** Describes a failure to administrators by its codes. It never quotes the server, whose text may contain a password. */
const toFailure = (problem: SmtpProblem): Failure => ({
  kind: isPermanentRefusal(problem) ? 'permanent' : 'temporary',
  code: problem.code,
  ...(problem.reply !== undefined && { reply: problem.reply }),
  ...(problem.status !== undefined && { status: problem.status }),
  message: describeProblem(problem),
});

function describe(row: RecordRow): MailRecord {
  const recipients = toRecipients(row);
  const { state } = row;
  return {
    id: row.id,
    orgId: row.orgId,
    subject: row.subject,
    from: row.fromAddress,
    to: row.toAddresses,
    cc: row.ccAddresses,
    recipients,
    refused: recipients.filter(({ outcome }) => outcome === 'refused').map(({ address }) => address),
    emailTemplateType: row.templateType,
    state,
    canResend: row.canResend && hasOutcome(row),
    failure:
      row.problem === null || state === 'sent' ? null : toFailure(row.problem as unknown as SmtpProblem),
    attempts: row.attempts,
    unknownAttempts: row.unknownAttempts,
    nextAttemptAt: state === 'queued' ? row.nextAttemptAt.toISOString() : null,
    expiresAt: hasOutcome(row) ? null : row.expiresAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Normalises an address as sending does: `info@bücher.example` is stored as `info@xn--bcher-kva.example`. */
const toStored = (recipient: string): string => readEmailAddress(recipient) ?? recipient;

const toFilter = (orgId: string, query: RecordQuery): RecordFilter => {
  const { state = 'sent', recipient, q, emailTemplateType, since, until } = query;
  return {
    orgId,
    states: state === 'any' ? mailStates : [state],
    templates: emailTemplateType === undefined ? internalTemplateTypes : [emailTemplateType],
    fromId: since === undefined ? FIRST_ID : firstIdAt(Date.parse(since)),
    beforeId: until === undefined ? LAST_ID : firstIdAt(Date.parse(until)),
    recipient: recipient === undefined ? undefined : toStored(recipient),
    q,
  };
};

function renderContent(type: string, kept: KeptContent | undefined, brand: Brand): MailContent {
  if (!isInternalTemplateType(type) || kept === undefined) return null;
  const { templateData, productName, language = brand.language } = kept;
  const viewed = createView(type, templateData, { productName, brand, language });
  // An earlier version may have kept less than the template needs now.
  return 'faults' in viewed ? null : inlineLogo(renderTemplate(type, viewed.view, language), brand);
}

export function createRecordService({
  prisma,
  pool,
  box,
  brands,
}: Pick<Resources, 'prisma' | 'pool'> & {
  readonly box: SecretBox;
  readonly brands: Pick<Brands, 'get'>;
}) {
  async function findMatches(filter: RecordFilter, query: RecordQuery, total: number): Promise<FoundIds> {
    const { page, limit, cursor } = query;
    if (cursor !== undefined) return findIdsBefore(prisma, filter, cursor.toLowerCase(), limit);
    const offset = (page - 1) * limit;
    const count = Math.min(limit, total - offset);
    const ids = count > 0 ? await findMatchingIds(prisma, filter, offset, count) : [];
    const hasMore = offset + limit < total || total === MAX_MATCHES;
    // Looked for after the ids: with mails that were stored in between, the next page repeats some rather than skips them.
    return { ids, nextCursor: hasMore ? (ids.at(-1) ?? null) : await findSearchedTo(prisma, filter) };
  }

  async function list(orgId: string, query: RecordQuery): Promise<ListPage<MailRecord>> {
    const filter = toFilter(orgId, query);
    const total = await countMatches(prisma, filter);
    const { ids, nextCursor } = await findMatches(filter, query, total);
    const rows = await findByIds(prisma, orgId, ids);
    const isMinimum = total === MAX_MATCHES || (await findSearchedTo(prisma, filter)) !== null;
    return { data: rows.map(describe), pagination: toPagination(query, total, { isMinimum }), nextCursor };
  }

  return {
    /**
     * Lists the organisation's mails, newest first: sent mails, unless the query names another state. Page numbers
     * reach a thousand mails; the cursor has no such limit.
     */
    list,

    /** @throws AppError 404 when the organisation has no such mail, whether or not another one has. */
    async get(orgId: string, id: string): Promise<MailRecord> {
      const [row] = await findByIds(prisma, orgId, [id]);
      if (!row) throw notFound('Mail record not found');
      return describe(row);
    },

    /**
     * Renders a mail again, from its template and what is kept of its data.
     *
     * @returns null when nothing is kept. @throws AppError 404 when the organisation has no such mail.
     */
    async getContent(orgId: string, id: string): Promise<MailContent> {
      const found = await findContent(prisma, orgId, id);
      if (!found) throw notFound('Mail record not found');
      return found.sealedContent === null
        ? null
        : renderContent(
            found.templateType,
            openContent(box, id, found.sealedContent),
            await brands.get(orgId),
          );
    },

    /** Erases a recipient from all mails of the organisation. Mails in progress follow when their outcome is stored. */
    erase: (orgId: string, recipient: string): Promise<Erased> =>
      eraseRecipient(pool, orgId, toStored(recipient)),
  };
}

export type RecordService = ReturnType<typeof createRecordService>;
