/** One permission a token can carry. */
export interface ScopeDefinition {
  readonly name: string;
  readonly description: string;
  /** Whether only an administrator may grant the scope; it is then effective only while its owner is one. */
  readonly isAdminOnly: boolean;
}

const scope = <const N extends string>(name: N, description: string, isAdminOnly = false) => ({
  name,
  description,
  isAdminOnly,
});

/** Every scope, by category, in the order in which they are shown. */
export const scopeCatalogue = [
  { category: 'Knowledge Base', scopes: [scope('kb:read', 'Read the knowledge base')] },
  { category: 'Semantic', scopes: [scope('semantic:write', 'Search by meaning and keep the searches')] },
  {
    category: 'Crawling',
    scopes: [
      scope('crawl:read', 'See crawl schedules, runs and queue statistics'),
      scope('crawl:write', 'Schedule, pause and resume crawls'),
      scope('crawl:delete', 'Remove crawl schedules'),
    ],
  },
  {
    category: 'Users',
    scopes: [
      scope('user:read', 'See the own profile and the members'),
      scope('user:write', 'Rename members, and remove those who are not administrators', true),
    ],
  },
  {
    category: 'Tokens',
    scopes: [
      scope('pat:read', 'List the own personal access tokens'),
      scope('pat:write', 'Create and revoke the own personal access tokens'),
    ],
  },
  {
    category: 'Configuration',
    scopes: [
      scope('config:read', 'Read the configuration', true),
      scope('config:write', 'Change the configuration, but for the SMTP server', true),
    ],
  },
  {
    category: 'Mail',
    scopes: [
      scope('SEND_MAIL', 'Send template mails', true),
      scope('FETCH_CONFIG', 'Have the mail service reload its configuration', true),
    ],
  },
] as const;

export type Scope = (typeof scopeCatalogue)[number]['scopes'][number]['name'];

const definitions: ReadonlyMap<string, ScopeDefinition> = new Map(
  scopeCatalogue.flatMap((group) => group.scopes.map((definition) => [definition.name, definition])),
);

export const isScope = (name: string): name is Scope => definitions.has(name);

/** Returns whether the scope may be granted; false for a name that is not in the catalogue. */
export const canHoldScope = (name: string, role: Role): boolean => {
  const definition = definitions.get(name);
  return definition !== undefined && (!definition.isAdminOnly || role === 'admin');
};

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];
