import { mcpServers as t } from '#text/mcp-servers';
import type { IdentitySchemas } from '@platform/clients/types';
import type { Tone } from '../../ui/badge.tsx';

export type Server = IdentitySchemas['schemas']['McpServer'];
export type Tool = IdentitySchemas['schemas']['McpTool'];
export type ToolDetail = IdentitySchemas['schemas']['McpToolDetail'];
export type CredentialKind = keyof typeof t.credentials;

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
