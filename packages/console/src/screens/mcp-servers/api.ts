import { mcpServers as t } from '#text/mcp-servers';
import type { IdentitySchemas } from '@platform/clients/types';
import type { Tone } from '../../ui/badge.tsx';

export type Server = IdentitySchemas['schemas']['McpServer'];
export type AccountCredential = IdentitySchemas['schemas']['McpAccountCredential'];
export type Tool = IdentitySchemas['schemas']['McpTool'];
export type ToolDetail = IdentitySchemas['schemas']['McpToolDetail'];
export type CredentialKind = keyof typeof t.credentials;
export type Claim = Server['credential']['claims'][number];
export type GroupValue = NonNullable<Server['credential']['groupValues']>;
export const claims = ['email', 'groups'] as const satisfies readonly Claim[];

/** Whether each account is known to the server by itself. */
export const isPerAccount = ({ credential: { kind } }: Server): boolean =>
  kind === 'personal' || kind === 'oauth';

/** Says what a server learns about whoever calls. */
export function describeReceived({ kind, claims: told, groupValues }: Server['credential']): string {
  if (kind === 'personal' || kind === 'oauth') return t.receives.own;
  if (kind !== 'assertion') return t.receives.nothing;
  const groups = groupValues === null ? [] : [t.receives.groups[groupValues]];
  return t.receives.all([t.receives.id, ...(told.includes('email') ? [t.receives.email] : []), ...groups]);
}

export function describeState({ isEnabled, refreshFault, refreshedAt, tools }: Server): {
  readonly tone: Tone;
  readonly label: string;
} {
  if (!isEnabled) return { tone: 'neutral', label: t.states.disabled };
  if (refreshFault !== null) return { tone: 'bad', label: t.faults[refreshFault] };
  if (refreshedAt === null) return { tone: 'busy', label: t.states.unread };
  return tools.waiting > 0
    ? { tone: 'notice', label: t.states.waiting }
    : { tone: 'good', label: t.states.inUse };
}
