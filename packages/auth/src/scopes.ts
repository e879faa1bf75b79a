/** One permission a token can carry. */
export interface ScopeDefinition {
  readonly name: string;
  readonly description: string;
  /** Whether only an administrator may grant the scope; it is then effective only while its owner is one. */
  readonly isAdminOnly: boolean;
  /** Whether every route of the scope is for administrators: a member can hold it, and do nothing with it. */
  readonly isForAdmins: boolean;
  /** Whether the scope depends on the permissions of a person, so that no service account can hold it. */
  readonly isPersonal: boolean;
  /** Whether a person can give the scope to an OAuth client. */
  readonly isDelegable: boolean;
}

const scope = <const N extends string>(
  name: N,
  description: string,
  rules: Partial<Pick<ScopeDefinition, 'isAdminOnly' | 'isForAdmins' | 'isPersonal' | 'isDelegable'>> = {},
) => ({
  name,
  description,
  isAdminOnly: rules.isAdminOnly ?? false,
  isForAdmins: rules.isForAdmins ?? rules.isAdminOnly ?? false,
  isPersonal: rules.isPersonal ?? false,
  isDelegable: rules.isDelegable ?? true,
});
const personal = { isPersonal: true };
const adminOnly = { isAdminOnly: true };
const forAdmins = { isForAdmins: true };

/** Every scope, by category, in the order in which they are shown. */
export const scopeCatalogue = [
  { category: 'Knowledge Base', scopes: [scope('kb:read', 'Read the knowledge base')] },
  {
    category: 'Semantic',
    scopes: [scope('semantic:write', 'Search by meaning and keep the searches', personal)],
  },
  {
    category: 'Crawling',
    scopes: [
      scope('crawl:read', 'See crawl schedules, runs and queue statistics', forAdmins),
      scope('crawl:write', 'Schedule, pause and resume crawls', forAdmins),
      scope('crawl:delete', 'Remove crawl schedules', forAdmins),
      scope('crawl:work', 'Claim crawls and do them', adminOnly),
    ],
  },
  {
    category: 'Users',
    scopes: [
      scope('user:read', 'See your profile and the members'),
      scope('user:write', 'Rename members, and remove members who are not administrators', {
        isAdminOnly: true,
        isPersonal: true,
      }),
    ],
  },
  {
    category: 'Tokens',
    scopes: [
      scope('pat:read', 'List your personal access tokens', personal),
      // A token that a client creates would outlive the client's connection.
      scope('pat:write', 'Create and revoke your personal access tokens', {
        isPersonal: true,
        isDelegable: false,
      }),
    ],
  },
  {
    category: 'Access',
    scopes: [scope('access:read', 'See who can use which tools and connectors', adminOnly)],
  },
  {
    category: 'Events',
    scopes: [scope('events:read', 'Read what happens in the organisation', adminOnly)],
  },
  {
    category: 'Configuration',
    scopes: [
      scope('config:read', 'Read the configuration', adminOnly),
      scope('config:write', 'Change the configuration, but for the SMTP server', {
        isAdminOnly: true,
        isPersonal: true,
      }),
    ],
  },
  {
    category: 'Mail',
    scopes: [
      scope('SEND_MAIL', 'Send template mails', adminOnly),
      scope('FETCH_CONFIG', 'Have the mail service reload its configuration', adminOnly),
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

/** Returns whether somebody with the role can do anything with the scope. */
export const canUseScope = (name: string, role: Role): boolean =>
  canHoldScope(name, role) && (role === 'admin' || definitions.get(name)?.isForAdmins === false);

/** Returns whether a service account with the role may hold the scope. */
export const canServiceAccountHoldScope = (name: string, role: Role): boolean =>
  canHoldScope(name, role) && definitions.get(name)?.isPersonal === false;

/** Returns whether a person with the role may give the scope to an OAuth client. */
export const canDelegateScope = (name: string, role: Role): boolean =>
  canHoldScope(name, role) && definitions.get(name)?.isDelegable === true;

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];
