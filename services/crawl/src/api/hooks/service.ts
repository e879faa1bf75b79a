import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidCredential } from '@platform/auth';
import { DEFAULT_INSTANCE } from '@platform/events';
import { createWebhookSecret, DAY_MS, parseWebhookSecret, tooManyRequests } from '@platform/service-kit';
import { v7 as uuidv7, validate as isUuid } from 'uuid';
import type { Actor } from '../../domain/act.js';
import {
  deleteHook,
  findHook,
  type Hook,
  insertHook,
  listHooks,
  ringHook,
  rotateHookSecrets,
} from '../../db/hooks.js';
import { hasInstance } from '../../db/instances.js';
import { type HookKind, type HookVerification, verifyHook } from '../../domain/hook.js';
import type { HookKey, InstanceKey } from '../../domain/instance-key.js';
import type { ApiContext } from '../context.js';
import { crawlAuthErrors } from '../authority.js';
import { instanceNotFound } from '../instances/errors.js';
import { base } from '../params.js';
import { hookNotFound, secretRefused, tooManyHooks } from './errors.js';
import type { HookBody, HookItem, HookWithSecret } from './schemas.js';

const MAX_HOOKS = 10;
const MAX_RINGS_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** After a rotation, the secret before is accepted as well, for so long. */
const OVERLAP_MS = DAY_MS;
const SECRET_BYTES = 32;

/** The context that binds sealed secrets to their hook. */
export const hookContext = (id: string): string => `hook:${id}`;

const toItem = (hook: Hook): HookItem => ({
  hookId: hook.id,
  kind: hook.kind,
  description: hook.description,
  path: `${base}/hooks/${hook.id}`,
  createdBy: hook.createdBy,
  createdAt: hook.createdAt.toISOString(),
  rotatedAt: hook.rotatedAt?.toISOString() ?? null,
  lastRungAt: hook.lastRungAt?.toISOString() ?? null,
});

/** @param given - a secret that the source has made. @throws AppError 400. */
function toSecret(kind: HookKind, given: string | undefined): string {
  const isStandard = kind === 'standard_webhooks';
  if (given === undefined)
    return isStandard ? createWebhookSecret() : randomBytes(SECRET_BYTES).toString('base64url');
  if (isStandard && !parseWebhookSecret(given)) throw secretRefused();
  return given;
}

function openSecrets(
  { box }: ApiContext,
  { id, secretsSealed }: Pick<Hook, 'id' | 'secretsSealed'>,
): string[] {
  return JSON.parse(box.open(secretsSealed, hookContext(id))) as string[];
}

/** Returns the secrets that are accepted now; none when they cannot be opened. */
function getSecrets(ctx: ApiContext, hook: Hook): string[] {
  const { clock, log } = ctx;
  const isOverlapping = hook.rotatedAt && clock() - hook.rotatedAt.getTime() < OVERLAP_MS;
  try {
    return openSecrets(ctx, hook).slice(0, isOverlapping ? 2 : 1);
  } catch (error) {
    log.error({ err: error, hookId: hook.id }, 'failed to open the secrets of a hook: it is refused');
    return [];
  }
}

/** The same for an unknown hook, an invalid request, and an instance without a schedule. */
const refuse = () => invalidCredential(crawlAuthErrors);

export const listHooksOf = async ({ pool }: ApiContext, key: InstanceKey): Promise<HookItem[]> =>
  (await listHooks(pool, key)).map(toItem);

/** @throws AppError 400 for the secret; 404 for the instance; 409 when there are too many. */
export async function createHook(
  { pool, clock, box }: ApiContext,
  key: InstanceKey,
  given: HookBody,
  actor: Actor,
): Promise<HookWithSecret> {
  const { kind, description = '' } = given;
  const secret = toSecret(kind, given.secret);
  if (key.instance !== DEFAULT_INSTANCE && !(await hasInstance(pool, key))) throw instanceNotFound();
  const id = uuidv7();
  const createdAt = new Date(clock());
  const hook = {
    ...key,
    id,
    kind,
    description,
    secretsSealed: box.seal(JSON.stringify([secret]), hookContext(id)),
    createdBy: actor.actorId,
    createdAt,
  };
  const act = { actor, at: createdAt, detail: { kind, description } };
  if (!(await insertHook(pool, hook, MAX_HOOKS, act))) throw tooManyHooks(MAX_HOOKS);
  return { ...toItem({ ...hook, rotatedAt: null, lastRungAt: null }), secret };
}

/** Replaces the secret. @throws AppError 400 for the secret; 404. */
export async function rotateHook(
  ctx: ApiContext,
  key: HookKey,
  given: string | undefined,
  actor: Actor,
): Promise<HookWithSecret> {
  const { pool, clock, box } = ctx;
  let secret = '';
  const rotated = await rotateHookSecrets(pool, key, { actor, at: new Date(clock()) }, (hook) => {
    secret = toSecret(hook.kind, given);
    return box.seal(JSON.stringify([secret, ...openSecrets(ctx, hook).slice(0, 1)]), hookContext(hook.id));
  });
  if (!rotated) throw hookNotFound();
  return { ...toItem(rotated), secret };
}

/** @throws AppError 404. */
export async function removeHook({ pool, clock }: ApiContext, key: HookKey, actor: Actor): Promise<void> {
  if (!(await deleteHook(pool, key, { actor, at: new Date(clock()) }))) throw hookNotFound();
}

/** Begins to verify a request to a hook, before its body is read. @throws AppError 401. */
export async function verifyRequest(
  ctx: ApiContext,
  id: string,
  headers: IncomingHttpHeaders,
): Promise<HookVerification> {
  const { pool, clock } = ctx;
  const hook = isUuid(id) ? await findHook(pool, id) : undefined;
  const verification = hook && verifyHook(hook.kind, getSecrets(ctx, hook), headers, clock());
  if (!verification) throw refuse();
  return verification;
}

/** Asks for a run, for a request that was verified. @throws AppError 401; 429. */
export async function ring(
  { clock, hookDelayMs, pool, onDueAt }: ApiContext,
  id: string,
  verification: HookVerification,
): Promise<void> {
  if (!verification.isValid()) throw refuse();
  const at = new Date(clock());
  const dueAt = new Date(at.getTime() + hookDelayMs);
  const rung = await ringHook(pool, { id, at, dueAt, maxPerMinute: MAX_RINGS_PER_MINUTE });
  if (!rung) throw refuse();
  if (!rung.isCounted) {
    const startedAt = rung.minuteStartedAt?.getTime() ?? at.getTime();
    throw tooManyRequests((startedAt + MINUTE_MS - at.getTime()) / 1_000);
  }
  onDueAt(dueAt.getTime());
}
