import type { IdentitySchemas } from '@platform/clients/types';

type Agent = IdentitySchemas['schemas']['Agent'];
export type AgentCall = IdentitySchemas['schemas']['ToolCall'];
type AgentKind = Agent['kind'];

/** The page of an agent. */
export const getAgentPath = (kind: AgentKind, id: string): string =>
  ({
    token: `/account/tokens/${id}`,
    connection: `/account/apps/${id}`,
    service_account: `/organisation/service-accounts/${id}`,
  })[kind];
