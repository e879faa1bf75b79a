import { getAccount } from '@platform/auth';
import { type App, getBodyText, readJsonText, stringifyJson } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getActor } from '../actor.js';
import { administrators, checksBounds, outOfBounds, toConnectorFilter } from '../authority.js';
import { base, toConnector } from '../params.js';
import { errorResponses } from '../responses.js';
import {
  ClaimBody,
  ClaimedWork,
  FinishBody,
  FinishResult,
  HeartbeatBody,
  HeartbeatResult,
  WorkPath,
} from './schemas.js';
import { claimNextRun, finishSlice, recordHeartbeat, type WorkContext, type WorkKey } from './service.js';
import { leaseLost, tooManyWaiting } from './errors.js';

const tags = ['Crawl workers'];

/**
 * Returns who holds a lease. An application gets another access token every few minutes, so the application holds it, for the
 * account that it acts as.
 */
function getHolder(request: FastifyRequest): string {
  const { kind, credentialId, clientId, userId } = getAccount(request);
  return kind === 'oauth' ? `${kind} ${clientId} ${userId}` : `${kind} ${credentialId}`;
}

/** Returns the run that a worker reports on. That of a connector out of its bounds is one that does not exist. */
function toWorkKey(request: FastifyRequest<{ Params: { readonly runId: string } }>): WorkKey {
  const { orgId, bounds } = getAccount(request);
  const { runId } = request.params;
  return { orgId, runId, holder: getHolder(request), connectors: bounds?.connectors };
}

/** A checkpoint of 64 KiB, a hundred lines of log, and what surrounds them, escaped. */
const BODY_LIMIT_BYTES = 1_048_576;

/** Returns the checkpoint as the worker sent it, since JavaScript would change numbers such as 1234567890123456789. */
const readCheckpoint = (request: FastifyRequest): string | undefined =>
  readJsonText(getBodyText(request) ?? '', ['checkpoint']);

/** The routes are for administrators with `crawl:work`, best for a service account that has no other scope. */
export function workRoutes(app: App, ctx: WorkContext): void {
  const onRequest = administrators(app, 'crawl:work', checksBounds);
  app.post(
    `${base}/work/claim`,
    {
      onRequest,
      schema: {
        operationId: 'claimWork',
        tags,
        summary: 'Claim a run of one of the connectors, waiting for one if none is due',
        description:
          'Long polling: waits up to `waitMs`, and answers 204 when nothing became due. The lease lasts for seconds, and has to be renewed by `reportWork`; a run whose lease has ended is given to another worker. At most 50 workers of an organisation wait on a replica.',
        body: ClaimBody,
        response: {
          200: ClaimedWork,
          204: Type.Null({ description: 'No run was due.' }),
          ...errorResponses(400, 401, 403, 429, tooManyWaiting(), outOfBounds()),
        },
      },
    },
    async (request, reply) => {
      const { instances, worker, waitMs } = request.body;
      const connectors = request.body.connectors.map((connector, index) =>
        toConnector({ connector }, `connectors.${index}`),
      );
      if (!connectors.every(toConnectorFilter(request))) throw outOfBounds();
      const gone = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableEnded) gone.abort();
      });
      const claimed = await claimNextRun(
        ctx,
        getAccount(request).orgId,
        {
          connectors,
          instances,
          worker,
          waitMs,
          actor: getActor(request),
          holder: getHolder(request),
        },
        gone.signal,
      );
      // The checkpoint goes out as the text that came in.
      return claimed
        ? reply.type('application/json; charset=utf-8').serializer(stringifyJson).send(claimed)
        : reply.code(204).send(null);
    },
  );
  app.post(
    `${base}/work/:runId/heartbeat`,
    {
      onRequest,
      config: { keepsBodyText: true },
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        operationId: 'reportWork',
        tags,
        summary: 'Renew the lease of a run, and report its progress',
        description:
          'Send it every few seconds. Counters are totals of the slice, so a repeated report does no harm. `cancelled: true` asks the worker to stop. 409 `LEASE_LOST`: somebody else has the run; stop, and report nothing more.',
        params: WorkPath,
        body: HeartbeatBody,
        response: { 200: HeartbeatResult, ...errorResponses(400, 401, 403, 404, 409, leaseLost()) },
      },
    },
    (request) =>
      recordHeartbeat(ctx, toWorkKey(request), { ...request.body, checkpoint: readCheckpoint(request) }),
  );
  app.post(
    `${base}/work/:runId/finish`,
    {
      onRequest,
      config: { keepsBodyText: true },
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        operationId: 'finishWork',
        tags,
        summary: 'Finish a slice of a run; repeating it changes nothing',
        description:
          '`completed` publishes the sync event; `continue` needs a new checkpoint, and queues another slice; `failed` is retried unless `retry` is false; `released` gives the run back. With the same lease, a repeated request gets the same answer.',
        params: WorkPath,
        body: FinishBody,
        response: { 200: FinishResult, ...errorResponses(400, 401, 403, 404, 409, leaseLost()) },
      },
    },
    (request) =>
      finishSlice(ctx, toWorkKey(request), { ...request.body, checkpoint: readCheckpoint(request) }),
  );
}
