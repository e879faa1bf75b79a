import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type pg from 'pg';
import { type Clock, HOUR_MS } from '../clock.js';
import {
  claimIdempotencyKey,
  deleteIdempotencyKeys,
  type FirstRequest,
  type IdempotencyKey,
  keepIdempotentResponse,
  releaseIdempotencyKey,
} from '../data/idempotency-keys.js';
import type { SecretBox } from '../data/secret-box.js';
import { createPeriodicTask } from '../concurrency/periodic-task.js';
import { AppError, validationError } from '../errors.js';
import { addErrors } from '../openapi/error-responses.js';
import type { Shutdown } from '../shutdown.js';
import type { Logger } from '../telemetry/logging.js';
import type { App } from './app.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a repeated request with the same `Idempotency-Key` gets the first response, and does nothing. */
    readonly isIdempotent?: boolean;
  }
}

/** How long a response is kept. A program repeats a request within minutes, and some responses have a secret. */
const KEPT_MS = HOUR_MS;
const DELETE_EVERY_MS = 60_000;
const DELETE_BATCH = 1_000;
const HEADER = 'idempotency-key';
const KEY = /^[!-~]{1,255}$/;
/** The code of server errors after which nothing was done. */
const NOTHING_DONE = '"NOTHING_DONE"';

const headers = {
  type: 'object',
  properties: {
    [HEADER]: {
      type: 'string',
      'x-documented': { pattern: '^[!-~]{1,255}$' },
      description:
        'Repeating the key with the same request within an hour returns the first response, and does nothing.',
    },
  },
};

const keyReused = (): AppError =>
  new AppError({
    status: 422,
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: 'This Idempotency-Key was used with another request',
  });

const keyInUse = (): AppError =>
  new AppError({
    status: 409,
    code: 'IDEMPOTENCY_KEY_IN_USE',
    message: 'The first request with this Idempotency-Key is still under way, or its outcome is unknown',
    headers: { 'retry-after': '5' },
  });

export interface IdempotencyOptions {
  readonly pool: pg.Pool;
  /** Seals the responses: some have a secret that is shown once. */
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  readonly shutdown: Shutdown;
  /**
   * Returns whose keys they are. They belong to the credential, since another one of the same account may be allowed less than
   * the first response gives.
   */
  readonly getCaller: (request: FastifyRequest) => { readonly orgId: string; readonly credentialId: string };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');
const toContext = ({ orgId, credentialId, keyHash }: IdempotencyKey): string =>
  `idempotent-response:${orgId}:${credentialId}:${keyHash}`;

/**
 * Lets the routes that say `isIdempotent` accept an `Idempotency-Key`. A key goes through these states:
 *
 *     none ── the first request ──▶ under way ── 2xx ──▶ kept ── an hour ──▶ none
 *                                      │ 4xx, or nothing was done ─────────▶ none
 *                                      │ 5xx, or the process dies ─▶ unknown ── an hour ──▶ none
 *
 * While the first request is under way or its outcome is unknown, a repeated one is refused (409): it could do the same a
 * second time. The key is claimed after everything that can refuse the caller, so a response that was kept is only for those
 * who may still make the request.
 */
export function registerIdempotency(app: App, options: IdempotencyOptions): void {
  const { pool, box, clock, log, shutdown, getCaller } = options;
  const claimed = new WeakMap<FastifyRequest, IdempotencyKey>();

  /** Opens the response. Within its hour it is not encrypted again, so with its key it is lost. */
  function open(sealedBody: string, key: IdempotencyKey): string {
    try {
      return box.open(sealedBody, toContext(key));
    } catch {
      throw keyInUse();
    }
  }

  function replay(reply: FastifyReply, key: IdempotencyKey, first: FirstRequest): FastifyReply {
    if (first.status === null || first.sealedBody === null) throw keyInUse();
    return reply
      .code(first.status)
      .header('idempotency-replayed', 'true')
      .type('application/json; charset=utf-8')
      .send(open(first.sealedBody, key));
  }

  async function claim(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const given = request.headers[HEADER];
    if (given === undefined) return undefined;
    if (typeof given !== 'string' || !KEY.test(given))
      throw validationError([
        { field: 'Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' },
      ]);
    const { orgId, credentialId } = getCaller(request);
    const key = { orgId, credentialId, keyHash: hash(given) };
    const digest = hash(JSON.stringify([request.method, request.url, request.body ?? null]));
    const now = clock();
    const times = { now: new Date(now), expiresAt: new Date(now + KEPT_MS) };
    const first = await claimIdempotencyKey(pool, key, { digest, ...times });
    if (!first) {
      claimed.set(request, key);
      return undefined;
    }
    if (first.digest !== digest) throw keyReused();
    return replay(reply, key, first);
  }

  async function settle(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const key = claimed.get(request);
    if (!key || typeof payload !== 'string') return payload;
    const { statusCode: status } = reply;
    try {
      if (status < 300) {
        await keepIdempotentResponse(pool, key, { status, sealedBody: box.seal(payload, toContext(key)) });
      } else if (status < 500 || payload.includes(NOTHING_DONE)) await releaseIdempotencyKey(pool, key);
    } catch (error) {
      // The caller gets the response, and a repeated request is refused for an hour.
      request.log.warn({ err: error }, 'failed to keep the response for its Idempotency-Key');
    }
    return payload;
  }

  const deletion = createPeriodicTask({
    intervalMs: DELETE_EVERY_MS,
    run: async () => {
      while ((await deleteIdempotencyKeys(pool, new Date(clock()), DELETE_BATCH)) === DELETE_BATCH);
    },
    onError: (error) => log.warn({ err: error }, 'failed to delete expired idempotency keys'),
  });
  deletion.start();
  shutdown.on('workers', 'expiry of idempotency keys', deletion.stop);

  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.config?.isIdempotent !== true) return;
    if (route.schema) route.schema = addErrors({ ...route.schema, headers }, [keyInUse(), keyReused()]);
    route.preHandler = [...[route.preHandler ?? []].flat(), claim];
    route.onSend = [...[route.onSend ?? []].flat(), settle];
  });
}
