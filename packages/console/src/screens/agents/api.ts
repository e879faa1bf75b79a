import type { IdentitySchemas } from '@platform/clients/types';
import { identity, unwrap } from '../../api/client.ts';

export type Agent = IdentitySchemas['schemas']['Agent'];
export type AgentCall = IdentitySchemas['schemas']['ToolCall'];
export type AgentKind = Agent['kind'];
export type Refusal = Agent['refusals'][number];

/** The page of an agent. */
export const getAgentPath = (kind: AgentKind, id: string): string =>
  ({
    token: `/account/tokens/${id}`,
    connection: `/account/apps/${id}`,
    service_account: `/organisation/service-accounts/${id}`,
  })[kind];

/** What changes a token, a connection or a service account makes its page out of date as well. */
const keys = { token: 'tokens', connection: 'apps', service_account: 'service-accounts' } as const;

export const toAgentKey = (kind: AgentKind, id: string) => [keys[kind], 'agent', id] as const;

export const agentQuery = (kind: AgentKind, id: string) => ({
  queryKey: toAgentKey(kind, id),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    unwrap(identity.GET('/api/v1/agents/{kind}/{id}', { params: { path: { kind, id } }, signal })),
});
