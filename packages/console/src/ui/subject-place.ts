/** What an id of the organisation stands for. */
export interface Subject {
  readonly id: string;
  readonly kind: string;
}

const places: Readonly<Record<string, (id: string) => string>> = {
  activity: (id) => `/activity/${id}`,
  application: (id) => `/organisation/applications/${encodeURIComponent(id)}`,
  connected_app: (id) => `/organisation/apps/${id}`,
  destination: (id) => `/activity/destinations/${id}`,
  group: (id) => `/organisation/groups/${id}`,
  mcp_server: (id) => `/organisation/mcp-servers/${id}`,
  member: (id) => `/organisation/members/${id}`,
  service_account: (id) => `/organisation/service-accounts/${id}`,
  token: (id) => `/organisation/tokens/${id}`,
};

/** Returns the page of what an id stands for; undefined for what has none. */
export const findSubjectPlace = ({ id, kind }: Subject): string | undefined => places[kind]?.(id);
