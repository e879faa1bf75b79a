import type { UserPrincipal } from '@platform/auth';
import type { CountRequest } from '@platform/service-kit';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { describeServer } from './documents.js';
import { refreshFailed, serverNotFound } from './errors.js';
import { findLister, toListingSubject } from './own/listers.js';
import { notConnected } from './own/errors.js';
import { findServer, type ServerRow } from './queries.js';
import { type RefreshContext, refreshServer } from './refresh.js';
import type { Refreshed, TestedServer } from './schemas.js';
import type { Subject } from './upstream/credentials.js';
import { UpstreamFault } from '../../base/egress/faults.js';

export interface CheckContext extends RefreshContext {
  readonly countCheck: CountRequest;
}

async function requireServer({ prisma }: CheckContext, orgId: string, id: string) {
  const server = await findServer(prisma, orgId, id);
  if (!server) throw serverNotFound();
  return server;
}

async function tryListing(
  { listings }: CheckContext,
  server: ServerRow,
  findSubject: () => Promise<Subject | undefined>,
): Promise<TestedServer> {
  const startedAt = performance.now();
  const getDuration = () => Math.round(performance.now() - startedAt);
  try {
    const { definitions, leftOut, protocolVersion } = await listings.withPermit(server, async () =>
      listings.list(server, await findSubject()),
    );
    const tools = definitions.length;
    return {
      isUsable: true,
      fault: null,
      code: null,
      protocolVersion,
      tools,
      leftOut: [...leftOut],
      durationMs: getDuration(),
    };
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    const { kind: fault, code = null } = error;
    return {
      isUsable: false,
      fault,
      code,
      protocolVersion: null,
      tools: null,
      leftOut: [],
      durationMs: getDuration(),
    };
  }
}

/** Connects to a server and asks for its tools; nothing is stored. @throws AppError 404, 429. */
export async function testServer(
  ctx: CheckContext,
  { orgId, userId }: UserPrincipal,
  id: string,
): Promise<TestedServer> {
  ctx.countCheck(orgId);
  const server = await requireServer(ctx, orgId, id);
  return tryListing(ctx, server, async () => (await findLister(ctx, server, [userId])).subject);
}

/** Does so with the caller's own credential. @throws AppError 404, 429. */
export async function testOwnServer(
  ctx: CheckContext,
  { orgId, userId }: UserPrincipal,
  id: string,
): Promise<TestedServer> {
  ctx.countCheck(orgId);
  const server = await findServer(ctx.prisma, orgId, id);
  if (!server) throw notConnected();
  return tryListing(ctx, server, async () => {
    const subject = await toListingSubject(ctx, server, userId);
    if (!subject) throw notConnected();
    return subject;
  });
}

/** Refreshes the pinned catalogue now. @throws AppError 404, 429; 502 REFRESH_FAILED. */
export async function refreshNow(ctx: CheckContext, caller: Caller, id: string): Promise<Refreshed> {
  const { orgId } = caller;
  ctx.countCheck(orgId);
  const server = await requireServer(ctx, orgId, id);
  const changes = await refreshServer(ctx, server, toActor(caller)).catch((error: unknown) => {
    throw error instanceof UpstreamFault ? refreshFailed(error) : error;
  });
  const row = await requireServer(ctx, orgId, id);
  return { server: await describeServer(ctx.prisma, row), changes };
}
