import { type AccountPrincipal, hasScope, insufficientScope, standardAuthErrors } from '@platform/auth';
import { connectors } from '@platform/events';
import { type Clock, validationError } from '@platform/service-kit';
import type pg from 'pg';
import type { Catalogue } from '../mcp/endpoint/catalogue.js';
import type { ToolEndpoint } from '../mcp/endpoint/endpoint.js';
import { canReach } from '../mcp/endpoint/reach.js';
import type { ProtectedResources } from '../oauth/provider/protected-resources.js';
import { decide, type DecisionContext, listActions, listTools, toDecision, toServerName } from './decide.js';
import {
  type ActionSearch,
  type Decision,
  type Decisions,
  type Evaluation,
  type Evaluations,
  type FoundActions,
  type FoundEntities,
  type PageRequest,
  type ResourceSearch,
  type ResourceType,
  resourceTypes,
  type Subject,
  type SubjectSearch,
  type SubjectType,
  subjectTypes,
} from './schemas.js';
import { type AccessSubject, findSubjects } from './subjects.js';

const DEFAULT_LIMIT = 100;
/** The number of subjects that one search looks at, so that its cost does not grow with the organisation. */
const MAX_SEARCHED = 2_000;
const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const isSubjectType = (type: string): type is SubjectType => subjectTypes.some((one) => one === type);
const isResourceType = (type: string): type is ResourceType => resourceTypes.some((one) => one === type);

const toToken = (after: string | undefined): string =>
  after === undefined ? '' : Buffer.from(after).toString('base64url');

/** @throws AppError 400. */
function readToken(
  page: PageRequest | undefined,
  isValid: (after: string) => boolean = () => true,
): string | undefined {
  if (!page?.token) return undefined;
  const after = Buffer.from(page.token, 'base64url').toString();
  if (toToken(after) === page.token && isValid(after)) return after;
  throw validationError([{ field: 'page.token', message: 'is not the next_token of this search' }]);
}

function toPage(names: readonly string[], page: PageRequest | undefined) {
  const after = readToken(page);
  const limit = page?.limit ?? DEFAULT_LIMIT;
  const rest = names.toSorted().filter((name) => after === undefined || name > after);
  const results = rest.slice(0, limit);
  const next = rest.length > limit ? results.at(-1) : undefined;
  return { results, page: { next_token: toToken(next), count: results.length } };
}

/** Returns undefined for an evaluation that lacks a part. */
function toEvaluation({ subject, action, resource }: Partial<Evaluation>): Evaluation | undefined {
  return subject && action && resource ? { subject, action, resource } : undefined;
}

/** @throws AppError 400. */
function requireEvaluation(given: Partial<Evaluation>): Evaluation {
  const evaluation = toEvaluation(given);
  if (evaluation) return evaluation;
  const field = (['subject', 'action', 'resource'] as const).find((name) => !given[name]) ?? '';
  throw validationError([{ field, message: 'is required' }]);
}

const subjectKey = ({ type, id }: Subject): string => `${type} ${id.toLowerCase()}`;

export interface AccessContext {
  readonly pool: pg.Pool;
  readonly endpoint: Pick<ToolEndpoint, 'getTools'>;
  readonly resources: Pick<ProtectedResources, 'find'>;
  readonly clock: Clock;
}

const isReader = (caller: AccountPrincipal): boolean =>
  caller.role === 'admin' && hasScope(caller, 'access:read');

/** Everybody may ask about what belongs to their own account. @throws AppError 403, also for unknown subjects. */
function assertReadable(caller: AccountPrincipal, subjects: readonly (AccessSubject | undefined)[]): void {
  if (isReader(caller)) return;
  if (subjects.every((subject) => subject?.principal.userId === caller.userId)) return;
  throw insufficientScope(standardAuthErrors, ['access:read']);
}

/** Whoever asks about the own account is told of no tool that the own credential cannot see, as at the tool endpoint. */
async function loadContext(
  { endpoint, resources }: AccessContext,
  caller: AccountPrincipal,
): Promise<DecisionContext> {
  const catalogue = await endpoint.getTools(caller);
  if (isReader(caller)) return { catalogue, resources };
  const reach = { groups: new Set(caller.groups?.map(({ id }) => id)), bounds: caller.bounds };
  const seen: Catalogue = {
    ...catalogue,
    get: (name) => catalogue.find(name, reach),
    list: () => catalogue.list().filter((entry) => canReach(entry, reach)),
  };
  return { catalogue: seen, resources };
}

/** Finds subjects with one statement for each type. */
async function findNamedSubjects(
  { pool, clock }: AccessContext,
  { orgId }: AccountPrincipal,
  wanted: readonly Subject[],
): Promise<ReadonlyMap<string, AccessSubject>> {
  const found = new Map<string, AccessSubject>();
  await Promise.all(
    subjectTypes.map(async (type) => {
      const ids = new Set(wanted.filter((one) => one.type === type).map(({ id }) => id.toLowerCase()));
      const valid = [...ids].filter((id) => uuidForm.test(id));
      if (valid.length === 0) return;
      for (const subject of await findSubjects(pool, orgId, type, { ids: valid }, new Date(clock())))
        found.set(subjectKey({ type, id: subject.id }), subject);
    }),
  );
  return found;
}

async function findReadableSubject(
  ctx: AccessContext,
  caller: AccountPrincipal,
  subject: Subject,
): Promise<AccessSubject | undefined> {
  const found = (await findNamedSubjects(ctx, caller, [subject])).get(subjectKey(subject));
  assertReadable(caller, [found]);
  return found;
}

async function evaluateAll(
  ctx: AccessContext,
  caller: AccountPrincipal,
  asked: readonly (Evaluation | undefined)[],
): Promise<readonly Decision[]> {
  const wanted = asked.flatMap((one) => one?.subject ?? []);
  const subjects = await findNamedSubjects(ctx, caller, wanted);
  // oxfmt-ignore
  assertReadable(caller, wanted.map((subject) => subjects.get(subjectKey(subject))));
  const decisionContext = await loadContext(ctx, caller);
  return asked.map((one) => {
    if (!one) return toDecision('incomplete');
    const {
      subject,
      action,
      resource: { type, id },
    } = one;
    const found = subjects.get(subjectKey(subject));
    if (!found) return toDecision('unknown_subject');
    if (!isResourceType(type)) return toDecision('unknown_resource');
    return decide(decisionContext, found, action.name, { type, id });
  });
}

function listResources(
  decisionContext: DecisionContext,
  subject: AccessSubject,
  type: ResourceType,
  action: string,
): string[] {
  if (type === 'connector')
    return connectors.filter((id) => decide(decisionContext, subject, action, { type, id }).decision);
  const tools = listTools(decisionContext, subject).filter(({ tool }) =>
    tool.scopes.some((scope) => scope === action),
  );
  if (type === 'tool') return tools.map(({ tool }) => tool.name);
  return [...new Set(tools.flatMap((entry) => toServerName(entry) ?? []))];
}

/** @throws AppError 403. */
export async function evaluate(
  ctx: AccessContext,
  caller: AccountPrincipal,
  asked: Evaluation,
): Promise<Decision> {
  const [decision] = await evaluateAll(ctx, caller, [asked]);
  return decision ?? toDecision('unknown_subject');
}

/**
 * Decides many at once; the members of the request are defaults of each. One that lacks a part is denied, as the certification of
 * the API wants it.
 *
 * @throws AppError 400; 403.
 */
export async function evaluateMany(
  ctx: AccessContext,
  caller: AccountPrincipal,
  { evaluations = [], options, ...defaults }: Evaluations,
): Promise<Decisions> {
  if (evaluations.length === 0) return evaluate(ctx, caller, requireEvaluation(defaults));
  const asked = evaluations.map((one) => toEvaluation({ ...defaults, ...one }));
  const decisions = await evaluateAll(ctx, caller, asked);
  const semantic = options?.evaluations_semantic ?? 'execute_all';
  const isLast = ({ decision }: Decision) =>
    semantic === (decision ? 'permit_on_first_permit' : 'deny_on_first_deny');
  const end = decisions.findIndex(isLast);
  return { evaluations: end === -1 ? [...decisions] : decisions.slice(0, end + 1) };
}

/**
 * Finds who can do something, in the order of ids. One statement reads many subjects; a page can be short, or empty, and
 * yet have more after it.
 *
 * @throws AppError 400.
 */
export async function searchSubjects(
  ctx: AccessContext,
  caller: AccountPrincipal,
  { subject: { type }, action, resource, page }: SubjectSearch,
): Promise<FoundEntities> {
  const after = readToken(page, (id) => uuidForm.test(id));
  const results: { type: string; id: string }[] = [];
  if (!isSubjectType(type) || !isResourceType(resource.type))
    return { results, page: { next_token: '', count: 0 } };
  const limit = page?.limit ?? DEFAULT_LIMIT;
  const { orgId } = caller;
  const [decisionContext, subjects] = await Promise.all([
    loadContext(ctx, caller),
    findSubjects(ctx.pool, orgId, type, { after, limit: MAX_SEARCHED }, new Date(ctx.clock())),
  ]);
  let last: string | undefined;
  for (const subject of subjects) {
    if (results.length === limit) break;
    last = subject.id;
    if (decide(decisionContext, subject, action.name, { type: resource.type, id: resource.id }).decision)
      results.push({ type, id: subject.id });
  }
  const hasMore = last !== subjects.at(-1)?.id || subjects.length === MAX_SEARCHED;
  return { results, page: { next_token: toToken(hasMore ? last : undefined), count: results.length } };
}

/** Finds what a subject can do something with. @throws AppError 400; 403. */
export async function searchResources(
  ctx: AccessContext,
  caller: AccountPrincipal,
  { subject, action, resource: { type }, page }: ResourceSearch,
): Promise<FoundEntities> {
  const found = await findReadableSubject(ctx, caller, subject);
  const ids =
    found && isResourceType(type)
      ? listResources(await loadContext(ctx, caller), found, type, action.name)
      : [];
  const { results, page: next } = toPage(ids, page);
  return { results: results.map((id) => ({ type, id })), page: next };
}

/** Finds what a subject can do with a resource. @throws AppError 400; 403. */
export async function searchActions(
  ctx: AccessContext,
  caller: AccountPrincipal,
  { subject, resource: { type, id }, page }: ActionSearch,
): Promise<FoundActions> {
  const found = await findReadableSubject(ctx, caller, subject);
  let names: readonly string[] = [];
  if (found && isResourceType(type)) {
    const decisionContext = await loadContext(ctx, caller);
    names = listActions(decisionContext, type, id).filter(
      (name) => decide(decisionContext, found, name, { type, id }).decision,
    );
  }
  const { results, page: next } = toPage(names, page);
  return { results: results.map((name) => ({ name })), page: next };
}
