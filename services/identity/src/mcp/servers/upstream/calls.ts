import type { Client, Progress } from '@modelcontextprotocol/client';
import { hasScope, type AccountPrincipal } from '@platform/auth';
import {
  createPermits,
  currentTraceparent,
  isTracing,
  readJsonElements,
  readJsonMembers,
  readJsonText,
  writeJsonMembers,
} from '@platform/service-kit';
import { type KnowledgeScope, knowledgeScopes } from '../gate.js';
import type { Definition } from '../definition.js';
import type { ServerMetrics } from '../metrics.js';
import type { ToolContext } from '../../endpoint/tool.js';
import type { PassedResult } from '../../endpoint/tool-result.js';
import { readRelayedMeta } from '../relayed-meta.js';
import { circuitOpen, isServerFailure, tooManyCalls, toServiceFault } from './call-faults.js';
import type { Allowance } from './allowance.js';
import { type Circuits, createCircuits } from './circuit.js';
import type { Connections, UpstreamServer } from './connections.js';
import { isPerAccount } from './credentials.js';
import {
  canRenewCredential,
  handleRefusal,
  type OwnCredentialContext,
  recordAcceptance,
  requireOwnCredential,
} from './own-credentials.js';
import type { UsableCredential } from './own-credentials.sql.js';
import type { FindClaims } from '../person-claims.js';
import { UpstreamFault } from '../../../base/egress/faults.js';

/** A tool of a server, and the scope that it is mapped to. */
export interface UpstreamTool {
  readonly server: UpstreamServer;
  readonly toolName: string;
  readonly scope: KnowledgeScope;
  /** The definition that was approved. */
  readonly definition: Definition;
}

/**
 * Calls a tool of a server on behalf of the caller.
 *
 * @throws ServiceFault, whose message contains nothing that the server said.
 */
export type CallUpstream = (
  tool: UpstreamTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) => Promise<PassedResult>;

/** The calls of one server at the same time, as a share of those of its organisation. */
const SERVER_SHARE = 2;
const ORG_SHARE = 4;
/** The calls of one account at the same time, as a share of those of a server that each account calls as itself. */
const ACCOUNT_SHARE = 2;

/** Returns how many calls an organisation, a server, and an account at a server that knows it can have at the same time. */
export function getCallShares(maxCalls: number) {
  const perOrg = Math.max(1, Math.floor(maxCalls / ORG_SHARE));
  const perServer = Math.max(1, Math.floor(perOrg / SERVER_SHARE));
  return { perOrg, perServer, perAccount: Math.max(1, Math.floor(perServer / ACCOUNT_SHARE)) };
}

const toScopes = (principal: AccountPrincipal): readonly KnowledgeScope[] =>
  knowledgeScopes.filter((scope) => hasScope(principal, scope));

/** Returns what a circuit and permits count by: one account's trouble with its own credential is not that of others. */
const toFairKey = (server: UpstreamServer, { userId }: AccountPrincipal): string =>
  isPerAccount(server) ? `${server.id} ${userId}` : server.id;

const toProgress = ({ progress, total, message }: Progress) => ({
  progress,
  ...(total !== undefined && { total }),
  ...(message !== undefined && { message }),
});

/** Returns the parts of a call that the server gets as the caller sent them. The caller's own credential is never among them. */
function toCallTexts({ getParamsText, principal }: ToolContext) {
  const params = readJsonMembers(getParamsText());
  const args = params.get('arguments') ?? 'null';
  const meta = [...readRelayedMeta(params.get('_meta'))].filter(
    ([, text]) => !text.includes(principal.token),
  );
  return { arguments: args === 'null' ? '{}' : args, meta: new Map(meta) };
}

/** Returns an object without the members that are null. Without any, it stays as it is. */
function omitNulls(text: string): string {
  const members = [...readJsonMembers(text)];
  const present = members.filter(([, member]) => member !== 'null');
  return present.length < members.length ? writeJsonMembers(present) : text;
}

/** Returns the content of a result: as it came, but null in an optional member is absence. @throws UpstreamFault. */
function toPassedContent(content = 'null'): string {
  if (content === 'null') return '[]';
  const blocks = readJsonElements(content);
  if (!content.startsWith('[') || blocks.some((block) => !block.startsWith('{')))
    throw new UpstreamFault('invalid_answer');
  const present = blocks.map(omitNulls);
  return present.every((block, index) => block === blocks[index]) ? content : `[${present.join(',')}]`;
}

/** Returns the parts of a result as the server sent them. @throws UpstreamFault. */
function toPassedResult(response: string | undefined): PassedResult {
  const result = readJsonMembers(readJsonText(response ?? '', ['result']) ?? '');
  if (result.size === 0) throw new UpstreamFault('invalid_answer');
  const structuredContent = result.get('structuredContent') ?? 'null';
  return {
    content: toPassedContent(result.get('content')),
    ...(structuredContent !== 'null' && { structuredContent }),
    isError: result.get('isError') === 'true',
    meta: readRelayedMeta(result.get('_meta')),
  };
}

/** Returns the trace context that the server continues: this process's own span, or the caller's when it records none. */
function getTrace({ traceparent, tracestate }: ToolContext): Record<string, string> {
  const own = isTracing() ? currentTraceparent() : undefined;
  if (own !== undefined) return { traceparent: own };
  return {
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

interface CallContext extends OwnCredentialContext {
  readonly connections: Connections;
  readonly findClaims: FindClaims;
  readonly circuits: Circuits;
  /** The longest duration of a call. */
  readonly timeoutMs: number;
  readonly metrics: ServerMetrics;
}

async function send(
  ctx: CallContext,
  { server, toolName, scope, definition }: UpstreamTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) {
  const { principal, signal } = context;
  const { userId } = principal;
  // Read for each call, so that a change of membership is in force with the next one.
  const claims = await ctx.findClaims(server, { userId, groups: context.groups });
  const subject = { userId, scopes: toScopes(principal), claims };
  const trace = getTrace(context);
  const params = {
    name: toolName,
    arguments: args,
    ...(Object.keys(trace).length > 0 && { _meta: trace }),
  };
  const isRepeatable = scope === 'kb:read';
  const use = { server, subject, signal, isRepeatable, maxBytes: server.maxAnswerBytes };
  const run = async (client: Client, allowance: Allowance) => {
    allowance.texts.call = toCallTexts(context);
    await client.callTool(params, {
      timeout: ctx.timeoutMs,
      maxTotalTimeout: ctx.timeoutMs,
      signal: AbortSignal.any([signal, allowance.signal]),
      // Without it, the client would list the tools and call again when the server reports another definition. The content of
      // results is the caller's to check, by the output schema that it was shown.
      toolDefinition: { name: toolName, inputSchema: definition.inputSchema },
      ...(!isTracing() && { headers: trace }),
      ...(context.isStreamed && {
        onprogress: (progress: Progress) => {
          void context.report(toProgress(progress));
        },
      }),
    });
    return toPassedResult(allowance.texts.response);
  };
  if (!isPerAccount(server)) return ctx.connections.use(use, run);
  const callWith = async (credential: UsableCredential) => {
    const result = await ctx.connections.use({ ...use, subject: { ...subject, own: credential } }, run);
    await recordAcceptance(ctx, credential);
    return result;
  };
  const refuse = async (credential: UsableCredential, error: unknown): Promise<never> => {
    const isFault = error instanceof UpstreamFault && !signal.aborted;
    throw (isFault && (await handleRefusal(ctx, server, principal, credential, error))) || error;
  };
  const credential = await requireOwnCredential(ctx, server, principal);
  try {
    return await callWith(credential);
  } catch (error) {
    if (signal.aborted || !(error instanceof UpstreamFault) || !canRenewCredential(server, credential, error))
      return refuse(credential, error);
  }
  const renewed = await requireOwnCredential(ctx, server, principal, credential);
  return callWith(renewed).catch((error: unknown) => refuse(renewed, error));
}

async function callThroughCircuit(
  ctx: CallContext,
  tool: UpstreamTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
) {
  const { server, scope } = tool;
  const key = toFairKey(server, context.principal);
  const waitMs = ctx.circuits.tryEnter(key);
  if (waitMs !== undefined) throw circuitOpen(server.name, waitMs);
  try {
    const result = await send(ctx, tool, args, context);
    ctx.circuits.succeed(key);
    return result;
  } catch (error) {
    if (context.signal.aborted || !(error instanceof UpstreamFault)) {
      ctx.circuits.leave(key);
      throw error;
    }
    if (isServerFailure(error)) ctx.circuits.fail(key);
    else ctx.circuits.succeed(key);
    throw toServiceFault(error, server.name, scope);
  }
}

async function observe(
  ctx: CallContext,
  tool: UpstreamTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<PassedResult> {
  const end = ctx.metrics.start(tool.server);
  try {
    const result = await callThroughCircuit(ctx, tool, args, context);
    end(result.isError ? 'refused' : 'completed');
    return result;
  } catch (error) {
    end(context.signal.aborted ? 'cancelled' : 'failed');
    throw error;
  }
}

/** Creates the function that calls the tools of servers, within the shares of their organisations, servers and accounts. */
export function createUpstreamCalls(
  deps: Omit<CallContext, 'circuits'> & {
    /** Concurrent calls in this process; an organisation can have a quarter of them, and each of its servers half of that. */
    readonly maxCalls: number;
  },
): CallUpstream {
  const { maxCalls } = deps;
  const { perOrg, perServer, perAccount } = getCallShares(maxCalls);
  const orgPermits = createPermits({ total: maxCalls, perKey: perOrg });
  const serverPermits = createPermits({ total: maxCalls, perKey: perServer });
  const accountPermits = createPermits({ total: maxCalls, perKey: perAccount });
  const ctx: CallContext = { ...deps, circuits: createCircuits(deps.clock) };

  return (tool, args, context) => {
    const { server } = tool;
    const { id, orgId, name } = server;
    const refuse = () => tooManyCalls(name);
    const call = () => observe(ctx, tool, args, context);
    const callFairly = isPerAccount(server)
      ? () => accountPermits.run(toFairKey(server, context.principal), call, refuse)
      : call;
    return orgPermits.run(orgId, () => serverPermits.run(id, callFairly, refuse), refuse);
  };
}
