import { JsonText, stringifyJson } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { findAllowedGroups, type GroupsById, toAllowedGroups } from './access.js';
import { parseDefinition } from './definition.js';
import { findFlags } from './flags.js';
import { getEffectiveScope, type ScopeRule, type ToolScope } from './gate.js';
import { countTools, getRules, type ServerRow, type ToolCounts } from './queries.js';
import type { MountedTool, ToolDetail, ToolState } from './tool.schemas.js';
import type { Server } from './schemas.js';
import { toMountedName } from '../../base/mounted-name.js';
import type { ToolRow } from './tool.queries.js';

export const toServer = (row: ServerRow, counts: ToolCounts | undefined, groups: GroupsById): Server => ({
  id: row.id,
  name: row.name,
  url: row.url,
  credential: {
    kind: row.credential,
    header: row.secretHeader,
    prefix: row.secretPrefix,
    hint: row.credentialHint,
    link: row.credentialLink,
    clientId: row.clientId,
    scope: row.clientScope,
    hasListingSecret: row.credential === 'personal' && row.secretSealed !== null,
    claims: [...row.claims] as Server['credential']['claims'],
    groupValues: row.groupValues as Server['credential']['groupValues'],
  },
  connectors: [...row.connectors] as Server['connectors'],
  rules: [...getRules(row)],
  maxAnswerBytes: row.maxAnswerBytes,
  isEnabled: row.isEnabled,
  allowedGroups: toAllowedGroups(row, groups),
  createdAt: row.createdAt.toISOString(),
  refreshedAt: row.refreshedAt?.toISOString() ?? null,
  refreshFault: row.refreshFault as Server['refreshFault'],
  protocolVersion: row.protocolVersion,
  leftOut: JSON.parse(row.leftOut) as Server['leftOut'],
  tools: { offered: counts?.offered ?? 0, waiting: counts?.waiting ?? 0 },
});

/** Adds what else administrators see of a server: its numbers of tools, and the names of its groups. */
export async function describeServer(db: Prisma | Transaction, row: ServerRow): Promise<Server> {
  const groups = await findAllowedGroups(db, row.orgId, [row]);
  return toServer(row, (await countTools(db, [row.id])).get(row.id), groups);
}

function getState({ offeredHash, approvedHash }: ToolRow): ToolState {
  if (offeredHash === null) return 'withdrawn';
  if (approvedHash === null) return 'new';
  return approvedHash === offeredHash ? 'approved' : 'changed';
}

/** Describes a tool to administrators. */
export function toMountedTool(
  server: { readonly name: string; readonly rules: readonly ScopeRule[] },
  row: ToolRow,
  groups: GroupsById,
): MountedTool {
  const json = row.offered ?? row.approved;
  const definition = json === null ? undefined : parseDefinition(json);
  const state = getState(row);
  const effectiveScope = getEffectiveScope(row.name, row.scope as ToolScope, server.rules) ?? null;
  return {
    name: row.name,
    mountedName: toMountedName(server.name, row.name),
    state,
    isInEffect: state === 'approved' && effectiveScope !== null,
    scope: row.scope,
    effectiveScope,
    allowedGroups: toAllowedGroups(row, groups),
    hash: row.offeredHash,
    flags: definition ? findFlags(definition) : [],
    hints: { ...definition?.annotations },
  };
}

/** One difference between two definitions. */
interface Difference {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string;
  /** The value as JSON; null where there is none. */
  readonly from: string | null;
  readonly to: string | null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonText);
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const toJson = (value: unknown): string | null => (value === undefined ? null : stringifyJson(value));

/** Returns the smallest parts in which two JSON values differ. Arrays are compared as a whole. */
export function findDifferences(from: unknown, to: unknown, path = ''): Difference[] {
  if (isObject(from) && isObject(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])];
    return keys.flatMap((key) => findDifferences(from[key], to[key], `${path}/${escape(key)}`));
  }
  const [before, after] = [toJson(from), toJson(to)];
  return before === after ? [] : [{ path, from: before, to: after }];
}

export function toToolDetail(
  server: { readonly name: string; readonly rules: readonly ScopeRule[] },
  row: ToolRow,
  groups: GroupsById,
): ToolDetail {
  const offered = row.offered === null ? null : parseDefinition(row.offered);
  const approved = row.approved === null ? null : parseDefinition(row.approved);
  return {
    ...toMountedTool(server, row, groups),
    offered: offered && { ...offered },
    approved: approved && { ...approved },
    differences: findDifferences(approved ?? {}, offered ?? {}),
  };
}
