import { randomUUID } from 'node:crypto';
import type { UserPrincipal } from '@platform/auth';
import {
  type CountRequest,
  type AppError,
  conflict,
  createWebhookSecrets,
  type ListPage,
  type ListQuery,
  notFound,
  readListPage,
  replaceWebhookSecret,
  validationError,
} from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { AuditAction } from '../audit/actions.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/record.sql.js';
import { type Caller, platformActor } from '../base/caller/actor.js';
import { isOtherOrigin, parseTargetUrl } from '../base/egress/target-url.js';
import { storeAlert } from '../mails/alerts.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import { changeAsAdministrator, findAdministrators } from '../members/organisation/administration.js';
import type { Prisma, Transaction } from '../prisma.js';
import type { Claim } from './claim.sql.js';
import type { DisableReason } from './outcomes.js';
import {
  countDeliveries,
  countDestinations,
  deleteDestination,
  type DeliveryRow,
  type DestinationRow,
  disableDestination,
  findDeliveries,
  findDestination,
  findDestinations,
  insertDestination,
  MAX_COUNTED,
  repeatDelivery,
  sendWaiting,
  updateDestination,
} from './queries.js';
import type {
  ChangeDestinationBody,
  CreateDestinationBody,
  CreatedDestination,
  DeliveriesQuery,
  Delivery,
  Destination,
  TestedDestination,
} from './schemas.js';
import { destinationSecretContext } from './secrets.js';
import { type SendContext, sendFacts } from './send.js';

/* The destinations of an organisation's facts, which administrators manage. */

export interface DestinationContext extends SendContext {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly countTest: CountRequest;
  readonly wake: () => void;
}

const MAX_DESTINATIONS = 100;

const destinationNotFound = (): AppError => notFound('Destination not found');
const deliveryNotFound = (): AppError => notFound('Delivery not found');
export const tooManyDestinations = (): AppError =>
  conflict('TOO_MANY_DESTINATIONS', `An organisation can have ${MAX_DESTINATIONS} destinations`);
export const destinationDisabled = (): AppError =>
  conflict('DESTINATION_DISABLED', 'Nothing is sent to a destination that is disabled: enable it first');
export const noSigningSecret = (): AppError =>
  conflict('NO_SIGNING_SECRET', 'Logs are not signed: change the credential of the destination');
const refuseField = (field: string, message: string): AppError => validationError([{ field, message }]);

const toIso = (at: Date | null): string | null => at?.toISOString() ?? null;

const toDestination = (row: DestinationRow): Destination => ({
  id: row.id,
  form: row.form,
  url: row.url,
  description: row.description,
  types: row.types,
  credentialHeader: row.secretHeader,
  isEnabled: row.isEnabled,
  disabledReason: row.disabledReason,
  failingSince: toIso(row.failingSince),
  previousSecretUntil: toIso(row.previousSecretUntil),
  createdAt: row.createdAt.toISOString(),
});

const toDelivery = ({ attempts, nextAttemptAt, createdAt, ...row }: DeliveryRow): Delivery => ({
  ...row,
  attempts: attempts as unknown as Delivery['attempts'],
  nextAttemptAt: toIso(nextAttemptAt),
  createdAt: createdAt.toISOString(),
});

/** Returns the URL as the audit and mails show it: the rest can be the secret that opens it. */
function toShownUrl(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return pathname + search === '/' ? origin : `${origin}/…`;
}

const audited = ['form', 'url', 'description', 'types', 'secretHeader', 'isEnabled'] as const;
const toAudited = (row: DestinationRow) => ({
  ...row,
  url: toShownUrl(row.url),
  types: row.types.join(', '),
  isEnabled: String(row.isEnabled),
});

const parseUrl = ({ egress }: DestinationContext, url: string): string =>
  parseTargetUrl(url, egress, 'DESTINATION_ALLOWED_TARGETS');

interface Change {
  readonly before?: DestinationRow;
  readonly after?: DestinationRow;
  readonly detail?: Readonly<Record<string, string>>;
}

/** Runs a change of an administrator, and records it. */
const changeIn = <C extends Change>(
  ctx: DestinationContext,
  caller: Caller,
  action: AuditAction,
  run: (tx: Transaction, at: Date) => Promise<C>,
): Promise<C> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const change = await run(tx, at);
    const { before, after, detail = {} } = change;
    const row = after ?? before;
    await record({
      action,
      subjectId: row?.id ?? '',
      detail: {
        ...(row && { url: toShownUrl(row.url) }),
        ...(before && after && before.url !== after.url && { path: 'changed' }),
        ...detail,
      },
      changes: findChanges(before && toAudited(before), after && toAudited(after), audited),
    });
    return change;
  });

async function find(db: Prisma | Transaction, orgId: string, id: string): Promise<DestinationRow> {
  const row = await findDestination(db, orgId, id);
  if (!row) throw destinationNotFound();
  return row;
}

export const listDestinations = (
  { prisma }: DestinationContext,
  { orgId }: UserPrincipal,
  query: ListQuery,
): Promise<ListPage<Destination>> =>
  readListPage(query, {
    count: () => countDestinations(prisma, orgId),
    find: (window) => findDestinations(prisma, orgId, window),
    toItem: toDestination,
  });

/** @throws AppError 404. */
export const getDestination = async (
  { prisma }: DestinationContext,
  { orgId }: UserPrincipal,
  id: string,
): Promise<Destination> => toDestination(await find(prisma, orgId, id));

/** Registers a destination. The secret of a webhook is returned only here. @throws AppError 400; 409. */
export async function createDestination(
  ctx: DestinationContext,
  caller: Caller,
  body: CreateDestinationBody,
): Promise<CreatedDestination> {
  const { form, description = '', types = [], credential, isEnabled = true } = body;
  const { orgId } = caller;
  const url = parseUrl(ctx, body.url);
  if (form === 'webhook' && credential)
    throw refuseField('credential', 'is for logs; a webhook has a secret that signs its requests');
  const id = uuidv7();
  const signing = form === 'webhook' ? createWebhookSecrets() : undefined;
  const value = signing?.secrets ?? credential?.value;
  const secretSealed = value === undefined ? null : ctx.box.seal(value, destinationSecretContext(id));
  const { after } = await changeIn(ctx, caller, 'destination.created', async (tx, createdAt) => {
    if ((await countDestinations(tx, orgId)) >= MAX_DESTINATIONS) throw tooManyDestinations();
    const secretHeader = credential?.header ?? null;
    const kept = { description: description.trim(), types: [...new Set(types)], isEnabled, createdAt };
    const row = { id, orgId, form, url, ...kept, secretSealed, secretHeader };
    return { after: await insertDestination(tx, row) };
  });
  return { destination: toDestination(after), secret: signing?.secret ?? null };
}

/** Returns the credential of a change of logs. A secret is never sent to another origin than that it was given for. */
function toCredentialFields(
  { box }: DestinationContext,
  before: DestinationRow,
  credential: ChangeDestinationBody['credential'],
  isMoved: boolean,
) {
  if (credential === undefined) {
    if (isMoved && before.secretHeader !== null)
      throw refuseField('credential', 'must be given again when the URL leads to another origin');
    return {};
  }
  if (before.form === 'webhook') throw refuseField('credential', 'is for logs');
  if (credential === null) return { secretHeader: null, secretSealed: null };
  const secretSealed = box.seal(credential.value, destinationSecretContext(before.id));
  return { secretHeader: credential.header, secretSealed };
}

/** Changes a destination. When enabled again, it resumes where it was, as far as facts are kept. @throws AppError 400, 404. */
export async function changeDestination(
  ctx: DestinationContext,
  caller: Caller,
  id: string,
  body: ChangeDestinationBody,
): Promise<Destination> {
  const { description, types, credential, isEnabled } = body;
  const url = body.url === undefined ? undefined : parseUrl(ctx, body.url);
  const { after } = await changeIn(ctx, caller, 'destination.changed', async (tx, at) => {
    const before = await find(tx, caller.orgId, id);
    const isMoved = url !== undefined && isOtherOrigin(before.url, url);
    const fields = toCredentialFields(ctx, before, credential, isMoved);
    // A destination that was repaired, or is reached in another way, may well accept what it did not accept before.
    const isPromising = isEnabled === true || url !== undefined || credential !== undefined;
    const updated = await updateDestination(tx, id, {
      ...fields,
      ...(url !== undefined && { url }),
      ...(description !== undefined && { description: description.trim() }),
      ...(types !== undefined && { types: [...new Set(types)] }),
      ...(isEnabled !== undefined && { isEnabled, disabledReason: null }),
      ...(isPromising && { failures: 0, failingSince: null, resumeAt: null }),
      // A replica that is sending to it as it was stops.
      ...((isPromising || isEnabled === false || types !== undefined) && { claimedUntil: null }),
    });
    if (isPromising) await sendWaiting(tx, before, at);
    return { before, after: updated, ...('secretSealed' in fields && { detail: { secret: 'changed' } }) };
  });
  ctx.wake();
  return toDestination(after);
}

/** @throws AppError 404. */
export const removeDestination = (ctx: DestinationContext, caller: Caller, id: string): Promise<unknown> =>
  changeIn(ctx, caller, 'destination.removed', async (tx) => {
    const before = await find(tx, caller.orgId, id);
    await deleteDestination(tx, id);
    return { before };
  });

/** Replaces the secret of a webhook; each that was replaced signs for its day. @throws AppError 404, 409. */
export async function replaceSecret(
  ctx: DestinationContext,
  caller: Caller,
  id: string,
): Promise<{ readonly destination: Destination; readonly secret: string }> {
  const { box } = ctx;
  const { after, secret } = await changeIn(ctx, caller, 'destination.secret_replaced', async (tx, at) => {
    const before = await find(tx, caller.orgId, id);
    if (before.form !== 'webhook' || before.secretSealed === null) throw noSigningSecret();
    const context = destinationSecretContext(id);
    const {
      secret: created,
      secrets,
      until,
    } = replaceWebhookSecret(box.open(before.secretSealed, context), at.getTime());
    const row = await updateDestination(tx, id, {
      secretSealed: box.seal(secrets, context),
      previousSecretUntil: new Date(until),
    });
    return { before, after: row, secret: created };
  });
  return { destination: toDestination(after), secret };
}

/** Sends a fact of the type `destination.test`, once; nothing is stored. @throws AppError 404, 429. */
export async function testDestination(
  ctx: DestinationContext,
  { orgId }: UserPrincipal,
  id: string,
): Promise<TestedDestination> {
  ctx.countTest(orgId);
  const row = await find(ctx.prisma, orgId, id);
  const factId = randomUUID();
  const fact = {
    specversion: '1.0',
    id: factId,
    source: `/organisations/${orgId}`,
    type: 'destination.test',
    time: new Date(ctx.clock()).toISOString(),
    datacontenttype: 'application/json',
    data: { destinationId: id },
  };
  const { isAccepted, attempt } = await sendFacts(ctx, row, [JSON.stringify(fact)], factId);
  const { status, fault, durationMs } = attempt;
  return { isAccepted, status, fault, durationMs };
}

/** @throws AppError 404. */
export async function listDeliveries(
  { prisma }: DestinationContext,
  { orgId }: UserPrincipal,
  id: string,
  { state, ...query }: DeliveriesQuery,
): Promise<ListPage<Delivery>> {
  const destination = await find(prisma, orgId, id);
  return readListPage(query, {
    count: () => countDeliveries(prisma, destination, state),
    maxCount: MAX_COUNTED,
    find: (window) => findDeliveries(prisma, destination, state, window),
    toItem: toDelivery,
  });
}

/** Sends a delivery again, at once and with all its attempts, under the same id. @throws AppError 404, 409. */
export async function sendAgain(
  ctx: DestinationContext,
  caller: Caller,
  id: string,
  deliveryId: string,
): Promise<void> {
  await changeIn(ctx, caller, 'destination.delivery_repeated', async (tx, at) => {
    const row = await find(tx, caller.orgId, id);
    if (!row.isEnabled) throw destinationDisabled();
    if (!(await repeatDelivery(tx, row, deliveryId, at))) throw deliveryNotFound();
    return { before: row, after: row, detail: { deliveryId } };
  });
  ctx.wake();
}

/** Disables a destination that accepts nothing, and mails the administrators. */
export const disableFailing = (
  { prisma, outbox, clock }: Pick<DestinationContext, 'prisma' | 'outbox' | 'clock'>,
  { id, orgId, url }: Pick<Claim, 'id' | 'orgId' | 'url'>,
  reason: DisableReason,
): Promise<void> =>
  prisma.$transaction(async (tx) => {
    const at = new Date(clock());
    if (!(await disableDestination(tx, { id, url }, reason))) return;
    const shown = { url: toShownUrl(url) };
    const entry = { orgId, subjectId: id, reason, detail: shown, at };
    await insertAuditEntry(tx, { ...entry, action: 'destination.disabled', actor: platformActor });
    const administrators = await findAdministrators(tx, orgId);
    await storeAlert(tx, outbox, {
      topic: 'destination-disabled',
      causedBy: orgId,
      recipients: administrators.map((administrator) => administrator.id),
      alert: { notice: 'destinationDisabled', ...shown },
      client: null,
      at,
    });
  });
