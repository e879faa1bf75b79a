import {
  AppError,
  type Clock,
  type ListPage,
  notFound,
  readEmailAddress,
  readListPage,
} from '@platform/service-kit';
import addressparser from 'nodemailer/lib/addressparser';
import type pg from 'pg';
import {
  addSuppressions,
  countSuppressions,
  findKnown,
  findSuppressions,
  type NewSuppression,
  removeSuppression,
  type SuppressionRow,
} from './suppressions.sql.js';
import { isGoneIfReported, isTransientReply, readReply } from '../delivery/smtp-replies.js';
import type { BouncesBody, Suppression, SuppressionQuery } from './schemas.js';

/** Limits how many matches are counted and can be paged through by number. */
const MAX_COUNT = 1_000;
const EXPORT_PAGE = 1_000;
/** Bounds what a search reads, and what one token can store. */
const MAX_SUPPRESSIONS = 100_000;

export const tooManySuppressions = (): AppError =>
  new AppError({
    status: 409,
    code: 'TOO_MANY_SUPPRESSIONS',
    message: 'The organisation has too many suppressions: remove some, or wait until they expire',
  });

const toItem = ({ createdAt, expiresAt, ...row }: SuppressionRow): Suppression => ({
  ...row,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

const CSV_COLUMNS = ['address', 'reason', 'status', 'createdAt', 'expiresAt'] as const;

/** Writes a cell (RFC 4180). A spreadsheet would take some addresses for formulas; an apostrophe makes them texts. */
function toCell(value: string | null): string {
  const safe = value !== null && /^[=+\-@]/.test(value) ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const toLine = (cells: readonly (string | null)[]): string => `${cells.map(toCell).join(',')}\r\n`;

/** Converts the domain to its ASCII form, and everything to lower case. */
const toStored = (address: string): string => (readEmailAddress(address) ?? address).toLowerCase();

/** Reads a reported address, with or without a display name (RFC 5322 §3.4). @returns undefined when it isn't one. */
function readReportedAddress(text: string): string | undefined {
  const [first, ...others] = addressparser(text, { flatten: true });
  return others.length === 0 ? readEmailAddress(first?.address ?? '')?.toLowerCase() : undefined;
}

/** Manages the addresses that get no mail of an organisation, apart from codes, resets and invitations. */
export function createSuppressionService({
  pool,
  clock,
  maxSuppressions = MAX_SUPPRESSIONS,
}: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly maxSuppressions?: number;
}) {
  async function add(orgId: string, added: readonly NewSuppression[]): Promise<SuppressionRow[]> {
    const at = new Date(clock());
    const count = await countSuppressions(pool, { orgId, at, search: '' }, maxSuppressions);
    if (count < maxSuppressions) return addSuppressions(pool, { orgId, at }, added);
    // Existing ones are renewed, which takes no room.
    const known = await findKnown(pool, { orgId, at }, added);
    const rows = await addSuppressions(pool, { orgId, at }, known);
    if (known.length < added.length) throw tooManySuppressions();
    return rows;
  }

  return {
    list(orgId: string, { search = '', ...query }: SuppressionQuery): Promise<ListPage<Suppression>> {
      const filter = { orgId, at: new Date(clock()), search: search.trim().toLowerCase() };
      return readListPage(query, {
        count: () => countSuppressions(pool, filter, MAX_COUNT),
        maxCount: MAX_COUNT,
        find: (window) => findSuppressions(pool, filter, window),
        toItem,
      });
    },

    /** Writes the whole list as CSV, newest first. */
    async *export(orgId: string): AsyncGenerator<string> {
      const filter = { orgId, at: new Date(clock()), search: '' };
      yield toLine(CSV_COLUMNS);
      let beforeId: string | undefined;
      do {
        const window = { isFromEnd: false, offset: 0, count: EXPORT_PAGE, beforeId };
        const rows: readonly SuppressionRow[] = await findSuppressions(pool, filter, window);
        const items = rows.map(toItem);
        yield items.map((item) => toLine(CSV_COLUMNS.map((column) => item[column]))).join('');
        beforeId = rows.length < EXPORT_PAGE ? undefined : rows.at(-1)?.id;
      } while (beforeId !== undefined);
    },

    /** Suppresses an address, for another 90 days if it is suppressed already. */
    async add(orgId: string, address: string): Promise<Suppression> {
      const [row] = await add(orgId, [{ address: toStored(address), reason: 'administrator', status: null }]);
      if (!row) throw new Error('The suppression was not written');
      return toItem(row);
    },

    /** @throws AppError 404 when the organisation has no such suppression. */
    async remove(orgId: string, id: string): Promise<void> {
      if (!(await removeSuppression(pool, orgId, id))) throw notFound('Suppression not found');
    },

    /** Suppresses addresses that a provider reports. What it can't read is ignored, because nobody could correct it. */
    async reportBounces(orgId: string, { bounces }: BouncesBody) {
      const reported = bounces.flatMap(({ address: text, type, status }) => {
        const address = readReportedAddress(text ?? '');
        return address === undefined ? [] : { address, reason: type, codes: readReply(status?.trim() ?? '') };
      });
      const suppressing = reported.filter(
        ({ reason, codes }) =>
          reason === 'complaint' ||
          (codes.status === undefined ? !isTransientReply(codes) : isGoneIfReported(codes.status)),
      );
      const distinct = [
        ...new Map(
          suppressing.map(({ address, reason, codes }) => [
            address,
            { address, reason, status: codes.status ?? null },
          ]),
        ).values(),
      ];
      if (distinct.length > 0) await add(orgId, distinct);
      return { suppressed: distinct.length, ignored: bounces.length - suppressing.length };
    },
  };
}

export type SuppressionService = ReturnType<typeof createSuppressionService>;
