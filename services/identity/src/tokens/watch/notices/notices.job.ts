import type pg from 'pg';
import { type Clock, createPeriodicTask, inTransaction, type Logger } from '@platform/service-kit';
import type { StartJob } from '../../../base/start-job.js';
import { insertAuditEntries } from '../../../audit/record.sql.js';
import { platformActor } from '../../../base/caller/actor.js';
import type { Outbox } from '../../../mails/outbox/outbox.js';
import type { NoticePage } from '../../../mails/outbox/notice-emails.js';
import { countDueNotices, describeDigest, type DueNotices, isEmpty, isReportable, toDate } from './digest.js';
import {
  claimDigest,
  findAdministratorHolders,
  findDueHolders,
  findDueTokens,
  hasDigest,
  type Holder,
  lockHolder,
  saveNotices,
} from './notices.sql.js';
import { findHoldersToWarn, takeUnused } from '../unused/warning.sql.js';

const EVERY_MS = 60_000;
/** The number of tokens whose holders are found in one statement. */
const BATCH = 500;

/** Rolls a transaction back, because another one has sent the digest of the day. */
const digestSent = new Error('the digest of the day was sent');

export interface NoticesContext {
  readonly pool: pg.Pool;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/** Marks the holder's notices that are due as done. @returns what is to be reported. */
async function claimNotices(client: pg.PoolClient, holder: Holder, now: Date): Promise<DueNotices> {
  const tokens = await findDueTokens(client, holder, now);
  await saveNotices(
    client,
    tokens.map(({ id, expiresAt }) => ({ id, notices: countDueNotices(expiresAt, now) })),
  );
  const expiring = tokens.filter((token) => isReportable(token, now));
  await insertAuditEntries(
    client,
    expiring.map(({ id: subjectId, orgId, name, expiresAt }) => ({
      orgId,
      action: 'token.expiring',
      actor: platformActor,
      subjectId,
      detail: { name, expiresAt: expiresAt.toISOString() },
      at: now,
    })),
  );
  return { expiring, unused: await takeUnused(client, holder, now) };
}

/** @param page - the page of the console that shows all the tokens. */
async function mail(
  { outbox }: NoticesContext,
  client: pg.PoolClient,
  { id: userId }: Holder,
  due: DueNotices,
  now: Date,
  page: NoticePage = 'own',
): Promise<void> {
  const detail = { ...describeDigest(due, now), page };
  const request = { kind: 'token_expiring', to: { userId }, detail, requestId: null } as const;
  await outbox.add(client, request, now);
}

async function notifyMember(
  ctx: NoticesContext,
  client: pg.PoolClient,
  member: Holder,
  now: Date,
): Promise<void> {
  await lockHolder(client, member);
  const due = await claimNotices(client, member, now);
  if (isEmpty(due)) return;
  // Notices after the digest of the day wait for tomorrow's.
  if (await claimDigest(client, member, now)) await mail(ctx, client, member, due, now);
  else throw digestSent;
}

/** Notifies administrators of their tokens and of those of service accounts, in one digest. */
async function notifyAdministrators(
  ctx: NoticesContext,
  client: pg.PoolClient,
  organisation: Holder,
  now: Date,
): Promise<void> {
  await lockHolder(client, organisation);
  const administrators = await findAdministratorHolders(client, organisation.id);
  for (const administrator of administrators) await lockHolder(client, administrator);
  if (!(await claimDigest(client, organisation, now))) return;
  // Organisations come first in every run: an administrator who got a digest gets this one tomorrow.
  if (await hasDigest(client, administrators, now)) return;
  const shared = await claimNotices(client, organisation, now);
  if (isEmpty(shared)) return;
  for (const administrator of administrators) {
    const own = await claimNotices(client, administrator, now);
    await claimDigest(client, administrator, now);
    const expiring = [...shared.expiring, ...own.expiring];
    const due = { expiring, unused: [...shared.unused, ...own.unused] };
    await mail(ctx, client, administrator, due, now, 'organisation');
  }
}

async function findHolders(
  { pool }: NoticesContext,
  isOrganisation: boolean,
  except: readonly string[],
  now: Date,
): Promise<Holder[]> {
  const search = { now, except, limit: BATCH, isOrganisation };
  const expiring = await findDueHolders(pool, search);
  if (expiring.length > 0) return expiring;
  return findHoldersToWarn(pool, { ...search, day: toDate(now) });
}

/** A holder who cannot be notified is retried on the next run, and does not block the others. */
async function notifyAll(ctx: NoticesContext, isOrganisation: boolean, signal: AbortSignal): Promise<void> {
  const failed: string[] = [];
  while (!signal.aborted) {
    const now = new Date(ctx.clock());
    const holders = await findHolders(ctx, isOrganisation, failed, now);
    if (holders.length === 0) return;
    for (const holder of holders) {
      if (signal.aborted) return;
      const notify = isOrganisation ? notifyAdministrators : notifyMember;
      try {
        await inTransaction(ctx.pool, (client) => notify(ctx, client, holder, now));
      } catch (error) {
        failed.push(holder.id);
        if (error !== digestSent)
          ctx.log.warn(
            { err: error, holderId: holder.id },
            'failed to send notices of tokens that expire or are unused; retrying',
          );
      }
    }
    ctx.outbox.wake();
  }
}

/**
 * Notifies members of their tokens that expire or are unused, and administrators of those of service accounts, in one
 * digest a day. The notices are marked as done in the transaction that stores the mail, so that each is sent once,
 * whichever replica dies in between. [PAT-32, PAT-36]
 */
export function createNoticesJob(ctx: NoticesContext) {
  async function run(signal: AbortSignal): Promise<void> {
    await notifyAll(ctx, true, signal);
    await notifyAll(ctx, false, signal);
  }

  return createPeriodicTask({
    intervalMs: EVERY_MS,
    run,
    onError: (error) => ctx.log.warn({ err: error }, 'failed to find tokens that end; retrying'),
  });
}

/** Starts the job that mails about tokens that expire. Without a mail service, none of these notices counts as done. */
export function startTokenNotices(deps: NoticesContext & { readonly startJob: StartJob }): void {
  if (!deps.outbox.isEnabled) return;
  const job = createNoticesJob(deps);
  // It looks at once, too.
  const start = (): void => {
    job.start();
    job.wake();
  };
  deps.startJob('token notices', { start, stop: job.stop });
}
