import { canUseConnector, hasScope } from '@platform/auth';
import { isConnector } from '@platform/events';
import { describeMissingAuthority } from '../mcp/endpoint/authority.js';
import type { Catalogue, ToolEntry } from '../mcp/endpoint/catalogue.js';
import { canReach, isWithinBounds } from '../mcp/endpoint/reach.js';
import { toServerPattern } from '../mcp/endpoint/tool-filter.js';
import {
  MCP_AUDIENCE,
  type ProtectedResources,
  serviceScopes,
} from '../oauth/provider/protected-resources.js';
import type { Decision, Reason, ResourceType } from './schemas.js';
import type { AccessSubject } from './subjects.js';

/*
 * Decisions about what a subject can do. The tool endpoint's own view decides about tools, and the functions that crawl calls
 * decide about connectors; the reason is looked for only afterwards.
 */

const CRAWL_AUDIENCE = 'crawl';
const crawlActions: readonly string[] = serviceScopes.crawl;

const messages: Readonly<Record<Reason, string>> = {
  permitted: 'It can',
  incomplete: 'The evaluation names no subject, no action or no resource',
  unknown_subject: 'There is no such subject in the organisation',
  unknown_resource: 'There is no such resource in the organisation',
  unknown_action: 'The resource has no such action',
  inactive: 'It has ended, was suspended, or its owner was removed',
  bound: 'The credential is limited to others',
  group: 'It is for groups that the account is not in',
  role: 'Its owner is not an administrator',
  scope: 'It lacks the scope',
  policy: "The organisation's policy denies the scope",
  session: 'It is a session, and this needs a token',
  audience: 'The connection is for another service',
};

export const toDecision = (reason: Reason, message = messages[reason]): Decision => ({
  decision: reason === 'permitted',
  context: { reason, message },
});

export interface DecisionContext {
  readonly catalogue: Catalogue;
  readonly resources: Pick<ProtectedResources, 'find'>;
}

const hasAudience = (
  { resource }: AccessSubject,
  { resources }: DecisionContext,
  audiences: readonly string[],
): boolean =>
  resource === undefined ||
  (resources.find(resource)?.audiences.some((audience) => audiences.includes(audience)) ?? false);

const toReach = ({ principal, groups }: AccessSubject) => ({ groups, bounds: principal.bounds });

/** Returns the tools that the subject can list and call. */
export function listTools(ctx: DecisionContext, subject: AccessSubject): readonly ToolEntry[] {
  if (!subject.isActive || !hasAudience(subject, ctx, [MCP_AUDIENCE])) return [];
  const { entries } = ctx.catalogue.getView(subject.principal, undefined, toReach(subject));
  return entries.filter(({ tool }) => ctx.catalogue.get(tool.name));
}

function canUseTool(ctx: DecisionContext, subject: AccessSubject, name: string): boolean {
  if (!subject.isActive || !hasAudience(subject, ctx, [MCP_AUDIENCE])) return false;
  return ctx.catalogue.getView(subject.principal, undefined, toReach(subject)).names.has(name);
}

/** Returns why a tool is refused. */
function explainTool(ctx: DecisionContext, subject: AccessSubject, entry: ToolEntry): Decision {
  const { principal, groups, granted, isActive } = subject;
  const { tool } = entry;
  if (!isActive) return toDecision('inactive');
  if (!hasAudience(subject, ctx, [MCP_AUDIENCE])) return toDecision('audience');
  if (principal.bounds && !isWithinBounds(entry, principal.bounds)) return toDecision('bound');
  if (!canReach(entry, { groups, bounds: undefined })) return toDecision('group');
  const message = describeMissingAuthority(principal, tool);
  if (tool.isTokenOnly && principal.kind === 'session') return toDecision('session', message);
  const missing = tool.scopes.filter((scope) => !hasScope(principal, scope));
  if (missing.some((scope) => granted.has(scope) && !principal.grantedScopes.has(scope)))
    return toDecision('policy');
  if (missing.some((scope) => !principal.grantedScopes.has(scope))) return toDecision('scope', message);
  return toDecision('role', message);
}

function decideTool(ctx: DecisionContext, subject: AccessSubject, action: string, name: string): Decision {
  const entry = ctx.catalogue.get(name);
  if (!entry) return toDecision('unknown_resource');
  if (!entry.tool.scopes.some((scope) => scope === action)) return toDecision('unknown_action');
  return canUseTool(ctx, subject, name) ? toDecision('permitted') : explainTool(ctx, subject, entry);
}

/** The name of the mounted server that a tool is of; undefined for a tool of the platform. */
export const toServerName = ({ tool }: ToolEntry): string | undefined =>
  toServerPattern(tool.name)?.slice(0, -'__*'.length);

/** Whoever can use one tool of a server with the scope can use the server with it. */
function decideServer(ctx: DecisionContext, subject: AccessSubject, action: string, name: string): Decision {
  const offered = ctx.catalogue.list().filter((entry) => toServerName(entry) === name);
  const ofAction = offered.filter(({ tool }) => tool.scopes.some((scope) => scope === action));
  const [first] = ofAction;
  if (!first) return toDecision(offered.length === 0 ? 'unknown_resource' : 'unknown_action');
  return ofAction.some(({ tool }) => canUseTool(ctx, subject, tool.name))
    ? toDecision('permitted')
    : explainTool(ctx, subject, first);
}

/** A member who owns an instance of a connector, which crawl alone knows, can do more than is said here. */
function decideConnector(
  ctx: DecisionContext,
  subject: AccessSubject,
  action: string,
  connector: string,
): Decision {
  const { principal, granted, isActive } = subject;
  if (!isConnector(connector)) return toDecision('unknown_resource');
  if (!crawlActions.includes(action)) return toDecision('unknown_action');
  if (!isActive) return toDecision('inactive');
  if (!hasAudience(subject, ctx, [MCP_AUDIENCE, CRAWL_AUDIENCE])) return toDecision('audience');
  if (!canUseConnector(principal, connector)) return toDecision('bound');
  if (principal.role !== 'admin') return toDecision('role');
  if (hasScope(principal, action)) return toDecision('permitted');
  return toDecision(granted.has(action) && !principal.grantedScopes.has(action) ? 'policy' : 'scope');
}

const deciders = { tool: decideTool, server: decideServer, connector: decideConnector } as const;

export const decide = (
  ctx: DecisionContext,
  subject: AccessSubject,
  action: string,
  { type, id }: { readonly type: ResourceType; readonly id: string },
): Decision => deciders[type](ctx, subject, action, id);

/** Returns the actions that a resource has. */
export function listActions(
  { catalogue }: DecisionContext,
  type: ResourceType,
  id: string,
): readonly string[] {
  if (type === 'connector') return crawlActions;
  const entries =
    type === 'tool'
      ? [catalogue.get(id)].filter((entry) => entry !== undefined)
      : catalogue.list().filter((entry) => toServerName(entry) === id);
  return [...new Set(entries.flatMap(({ tool }) => tool.scopes))];
}
