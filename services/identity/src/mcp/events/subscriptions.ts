import { createHash } from 'node:crypto';
import type { AccountPrincipal } from '@platform/auth';
import { encodeCursor, findFeedPlace, InvalidCursorError } from '@platform/events';
import {
  AppError,
  type Clock,
  createWebhookSecrets,
  DAY_MS,
  type Egress,
  parseWebhookSecret,
  replaceWebhookSecret,
  type SecretBox,
} from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { type Actor, platformActor } from '../../base/caller/actor.js';
import { parseTargetUrl } from '../../base/egress/target-url.js';
import type { DisableReason } from '../../destinations/outcomes.js';
import { destinationSecretContext } from '../../destinations/secrets.js';
import { sendChallenge } from '../../destinations/send.js';
import { lockOrganisation } from '../../members/organisation/organisation.sql.js';
import { RpcFault } from '../endpoint/rpc-message.js';
import type { Prisma, Transaction } from '../../prisma.js';
import {
  callbackFailed,
  forbidden,
  invalidParams,
  resourceExhausted,
  subscriptionNotFound,
  unsupported,
} from './errors.js';
import type { EventArguments, EventType } from './event-types.js';
import { findEnded } from './listing.sql.js';
import {
  countSubscriptions,
  deleteSubscription,
  findById,
  findByKey,
  type Holder,
  insertSubscription,
  refreshSubscription,
  type SubscriptionRow,
} from './subscriptions.queries.js';
import { findConnection, findPositionBefore } from './subscriptions.sql.js';

/*
 * Subscriptions to events by webhook: destinations of facts with an owner, arguments and an end. They are sent by the job of
 * the destinations.
 *
 *   (none) ── challenge accepted ──> live ── refreshed ──> live
 *   live ── unsubscribed, stopped, expired, 410, failing for days, or the credential may no longer ──> (none)
 */

const MAX_OF_ACCOUNT = 100;
const MAX_OF_ORGANISATION = 1_000;
const MIN_TTL_MS = 60_000;
const DEFAULT_TTL_MS = DAY_MS;
const MAX_TTL_MS = 7 * DAY_MS;
/** How long a secret that a refresh replaces goes on signing. */
const SECRET_OVERLAP_MS = 10 * 60_000;

export interface SubscriptionContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly egress: Egress;
  /** Limits the challenges of an account, and those of its organisation. @throws AppError 429. */
  readonly countChallenge: (account: Pick<AccountPrincipal, 'orgId' | 'userId'>) => void;
  readonly clock: Clock;
}

/** What a client follows, and where it is sent. */
export interface Followed {
  readonly name: string;
  readonly args: EventArguments;
  readonly url: string;
}

interface Subscriber {
  readonly principal: AccountPrincipal;
  readonly actor: Actor;
}

export interface Subscribed {
  readonly id: string;
  readonly refreshBefore: string;
  readonly cursor: string;
  readonly truncated: boolean;
}

/** Members of objects in the order of their names, so that the same arguments have the same key. */
const toCanonical = (args: object): object =>
  Object.fromEntries(Object.entries(args).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** Returns the id that a client knows a subscription by: the same for the same request of the same credential. */
function toKey(
  orgId: string,
  { credentialKind, credentialId }: Holder,
  { url, name, args }: Followed,
): string {
  const identity = JSON.stringify([orgId, credentialKind, credentialId, url, name, toCanonical(args)]);
  return `sub_${createHash('sha256').update(identity).digest('base64url')}`;
}

/** Access tokens of an application are renewed, so that its connection stands for them. @throws RpcFault -32012. */
async function findHolder(pool: pg.Pool, { kind, credentialId }: AccountPrincipal): Promise<Holder> {
  if (kind === 'pat') return { credentialKind: 'pat', credentialId };
  const connection = kind === 'oauth' ? await findConnection(pool, credentialId) : undefined;
  if (connection !== undefined) return { credentialKind: 'oauth', credentialId: connection };
  throw forbidden(
    kind === 'session'
      ? 'A session cannot subscribe: use a personal access token, or connect an application'
      : 'An application that acts by itself cannot subscribe: use a token of its service account',
  );
}

/** @throws RpcFault -32602. */
function parseCallbackUrl({ egress }: SubscriptionContext, text: string): string {
  try {
    return parseTargetUrl(text, egress, 'DESTINATION_ALLOWED_TARGETS');
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw invalidParams(`delivery.url ${error.details?.[0]?.message ?? 'is invalid'}`);
  }
}

/** @throws RpcFault -32602. */
function parseSecret(secret: string | undefined): Buffer {
  const key = parseWebhookSecret(secret ?? '');
  if (key) return key;
  throw invalidParams('delivery.secret must be whsec_ and the base64 of 24 to 64 bytes');
}

/** @throws RpcFault -32013. */
async function assertRoom(db: Prisma | Transaction, principal: AccountPrincipal, now: Date): Promise<void> {
  const { ofAccount, ofOrganisation } = await countSubscriptions(db, principal, now);
  const limit = 'subscriptions';
  if (ofAccount >= MAX_OF_ACCOUNT)
    throw resourceExhausted(`An account can have ${MAX_OF_ACCOUNT} subscriptions`, {
      limit,
      max: MAX_OF_ACCOUNT,
    });
  if (ofOrganisation >= MAX_OF_ORGANISATION)
    throw resourceExhausted(`An organisation can have ${MAX_OF_ORGANISATION} subscriptions`, {
      limit,
      max: MAX_OF_ORGANISATION,
    });
}

const toEnd = (now: number, ttlMs: number = DEFAULT_TTL_MS): Date =>
  new Date(now + Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS));

/** A subscription as the audit shows it: the rest of the URL can be the secret that opens it. */
const toAudited = ({
  url,
  event,
  arguments: args,
}: Pick<SubscriptionRow, 'url' | 'event' | 'arguments'>) => ({
  event,
  url: new URL(url).origin,
  ...(args && Object.keys(args).length > 0 && { arguments: JSON.stringify(args) }),
});

/** @param begin.from - in milliseconds since the epoch. @throws RpcFault -32602. */
async function readPlace(
  pool: pg.Pool,
  orgId: string,
  { cursor, from }: { readonly cursor: string | undefined; readonly from: number | undefined },
) {
  const place = await findFeedPlace(pool, cursor).catch((error: unknown) => {
    throw error instanceof InvalidCursorError ? invalidParams('cursor is none of this server') : error;
  });
  if (cursor === undefined || from === undefined) return place;
  const before = new Date(Math.max(0, from));
  return { ...place, position: await findPositionBefore(pool, orgId, { after: place.position, before }) };
}

export interface SubscribeRequest {
  readonly type: EventType;
  readonly args: EventArguments;
  readonly delivery: { readonly mode: string; readonly url: string; readonly secret?: string | undefined };
  readonly cursor?: string | undefined;
  /** Events that happened longer ago are left out. */
  readonly maxAgeMs?: number | undefined;
  readonly ttlMs?: number | undefined;
}

/** Replaces the secret and moves the end. @returns false when the subscription was removed meanwhile. */
async function refresh(
  { prisma, box }: SubscriptionContext,
  { id, secretSealed }: SubscriptionRow,
  secret: string,
  { at, endsAt }: { readonly at: number; readonly endsAt: Date },
): Promise<boolean> {
  const context = destinationSecretContext(id);
  const { secrets } = replaceWebhookSecret(box.open(secretSealed ?? '', context), at, {
    secret,
    overlapMs: SECRET_OVERLAP_MS,
  });
  return refreshSubscription(prisma, id, { secretSealed: box.seal(secrets, context), endsAt });
}

/**
 * Subscribes, or refreshes the subscription that the same credential has with the same URL, event and arguments. Nothing is
 * stored before the receiver has answered the challenge.
 *
 * @throws RpcFault.
 */
export async function subscribe(
  ctx: SubscriptionContext,
  { principal, actor }: Subscriber,
  { type, args, delivery, cursor, maxAgeMs, ttlMs }: SubscribeRequest,
): Promise<Subscribed> {
  const { pool, prisma, box, clock } = ctx;
  const { orgId, userId: ownerId } = principal;
  const { name } = type;
  if (delivery.mode !== 'webhook') throw unsupported('deliveryMode', delivery.mode.slice(0, 64));
  const key = parseSecret(delivery.secret);
  const secret = delivery.secret ?? '';
  const url = parseCallbackUrl(ctx, delivery.url);
  const holder = await findHolder(pool, principal);
  const subscriptionKey = toKey(orgId, holder, { name, args, url });
  const at = clock();
  const place = await readPlace(pool, orgId, {
    cursor,
    from: maxAgeMs === undefined ? undefined : at - maxAgeMs,
  });
  const now = new Date(at);
  const endsAt = toEnd(at, ttlMs);
  const answer = { id: subscriptionKey, refreshBefore: endsAt.toISOString() };

  const known = await findByKey(prisma, orgId, subscriptionKey);
  if (known?.endsAt && known.endsAt > now && (await refresh(ctx, known, secret, { at, endsAt }))) {
    // Everything before its own position was accepted; the client's cursor is of no use to it.
    const ownPlace = { ...place, position: String(known.position) };
    return { ...answer, cursor: encodeCursor(ownPlace), truncated: false };
  }

  await makeRoom(ctx, principal, now);
  ctx.countChallenge(principal);
  const fault = await sendChallenge(ctx, { url, subscriptionKey }, key);
  if (fault) throw callbackFailed(fault);
  const id = uuidv7();
  const secretSealed = box.seal(createWebhookSecrets(secret).secrets, destinationSecretContext(id));
  const compared = Object.entries(args).filter(([argument]) => type.comparedArguments.includes(argument));
  await prisma.$transaction(async (tx) => {
    await lockOrganisation(tx, orgId);
    const other = await findByKey(tx, orgId, subscriptionKey);
    if (other) await deleteSubscription(tx, other.id);
    await assertRoom(tx, principal, now);
    await insertSubscription(tx, {
      id,
      orgId,
      subscriptionKey,
      ownerId,
      ...holder,
      url,
      event: name,
      arguments: args,
      filter: compared.length > 0 ? Object.fromEntries(compared) : undefined,
      types: type.factTypes,
      secretSealed,
      endsAt,
      createdAt: now,
      position: place.position,
    });
    const detail = toAudited({ url, event: name, arguments: { ...args } });
    await insertAuditEntry(tx, {
      orgId,
      action: 'event_subscription.created',
      actor,
      subjectId: id,
      detail,
      at: now,
    });
  });
  return { ...answer, cursor: encodeCursor(place), truncated: place.isTruncated };
}

/** Removes a subscription, and records why. */
async function remove(
  { prisma, clock }: Pick<SubscriptionContext, 'prisma' | 'clock'>,
  row: Pick<SubscriptionRow, 'id' | 'orgId' | 'url' | 'event' | 'arguments'>,
  { actor, reason }: { readonly actor: Actor; readonly reason: string | null },
): Promise<boolean> {
  return prisma.$transaction(async (tx) => {
    if (!(await deleteSubscription(tx, row.id))) return false;
    const { id: subjectId, orgId } = row;
    const entry = { orgId, subjectId, actor, reason, detail: toAudited(row), at: new Date(clock()) };
    await insertAuditEntry(tx, { ...entry, action: 'event_subscription.ended' });
    return true;
  });
}

/** Ends what no credential stands for any more, where there is no room otherwise. @throws RpcFault -32013. */
async function makeRoom(ctx: SubscriptionContext, principal: AccountPrincipal, now: Date): Promise<void> {
  try {
    await assertRoom(ctx.prisma, principal, now);
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    for (const ended of await findEnded(ctx.pool, principal.orgId))
      await remove(ctx, ended, { actor: platformActor, reason: 'unauthorized' });
    await assertRoom(ctx.prisma, principal, now);
  }
}

/** Ends the subscription of the same credential with the same URL, event and arguments. @throws RpcFault -32011. */
export async function unsubscribe(
  ctx: SubscriptionContext,
  { principal, actor }: Subscriber,
  followed: Followed,
): Promise<void> {
  const url = parseCallbackUrl(ctx, followed.url);
  const holder = await findHolder(ctx.pool, principal);
  const key = toKey(principal.orgId, holder, { ...followed, url });
  const row = await findByKey(ctx.prisma, principal.orgId, key);
  if (!row || !(await remove(ctx, row, { actor, reason: null }))) throw subscriptionNotFound();
}

/** Removes a subscription of the organisation, or of one owner. @returns false when there is none. */
export async function removeSubscription(
  ctx: Pick<SubscriptionContext, 'prisma' | 'clock'>,
  which: Parameters<typeof findById>[1],
  actor: Actor,
): Promise<boolean> {
  const row = await findById(ctx.prisma, which);
  return row !== null && remove(ctx, row, { actor, reason: null });
}

/** Ends a subscription to which nothing more is to be sent. */
export async function endSubscription(
  ctx: Pick<SubscriptionContext, 'prisma' | 'clock'>,
  { id, orgId, url, subscription }: Ended,
  reason: DisableReason,
): Promise<void> {
  const { event, arguments: args } = subscription ?? { event: '', arguments: {} };
  await remove(ctx, { id, orgId, url, event, arguments: { ...args } }, { actor: platformActor, reason });
}

interface Ended extends Pick<SubscriptionRow, 'id' | 'orgId' | 'url'> {
  readonly subscription: { readonly event: string; readonly arguments: EventArguments } | null;
}
