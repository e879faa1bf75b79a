/** What an operation demands of its caller. A session is not subject to scopes. */
export interface Demand {
  /** `optional`: without one, the answer says less, and one for the tools is taken. `any`: sessions and tokens, of which `pat` are the personal access tokens; a route without one is public. */
  readonly credential: 'none' | 'optional' | 'any' | 'session' | 'token' | 'pat';
  /** The scope that a token needs. */
  readonly scope?: string;
  /** Whether the caller must be an administrator. */
  readonly isForAdmins?: boolean;
  /** Whether the caller must be a person, not a service account. */
  readonly isForPeople?: boolean;
}

const forAdmins = { isForAdmins: true } as const;
const forPeople = { isForPeople: true } as const;
const publicly: Demand = { credential: 'none' };
const anyAccount: Demand = { credential: 'any' };
const withSession: Demand = { credential: 'session' };
const withAdminSession: Demand = { credential: 'session', ...forAdmins };
const withToken: Demand = { credential: 'pat' };
const asPerson = (scope?: string): Demand => ({
  credential: 'any',
  ...forPeople,
  ...(scope && { scope }),
});
const asAdmin = (scope: string): Demand => ({ credential: 'any', scope, ...forAdmins });
const byToken = (scope: string): Demand => ({ credential: 'token', scope });

/** Who may call what, by authority. What a person alone may do takes a session (AUTH-25, AUTH-27, AUTH-31, AUTH-39). */
const RULES: readonly (readonly [Demand, readonly string[]])[] = [
  [
    publicly,
    [
      'login',
      'loginSecondFactor',
      'enrolAtLogin',
      'confirmEnrolmentAtLogin',
      'getPasskeyOptionsAtLogin',
      'enrolPasskeyAtLogin',
      'confirmPasskeyAtLogin',
      'requestCode',
      'forgotPassword',
      'describeLink',
      'resetPassword',
      'acceptInvitation',
      'reportLeakedTokens',
      'getSigningKeys',
      'getToolEndpointMetadata',
      'getServerCard',
      'getAiCatalog',
    ],
  ],
  [{ credential: 'optional' }, ['listRegistryServers', 'getRegistryServer']],
  [anyAccount, ['callTools']],
  [
    withSession,
    [
      'logout',
      'changeMe',
      'getSecondFactor',
      'enrolTotp',
      'confirmTotp',
      'disableTotp',
      'renewRecoveryCodes',
      'getPasskeyOptions',
      'enrolPasskey',
      'confirmPasskey',
      'renamePasskey',
      'removePasskey',
      'getProviderConnection',
      'disconnectProvider',
      'listSessions',
      'endOtherSessions',
      'endSession',
      'confirmSession',
      'changeOwnPassword',
      'listConnectedApps',
      'revokeConnectedApp',
    ],
  ],
  [
    withAdminSession,
    [
      'getIdentityProvider',
      'saveIdentityProvider',
      'removeIdentityProvider',
      'testIdentityProvider',
      'addIdentityDomain',
      'verifyIdentityDomain',
      'removeIdentityDomain',
      'unlinkIdentityProvider',
      'saveSignInConfig',
      'resetUserSecondFactor',
      'listUserSessions',
      'endUserSessions',
      'createUser',
      'repeatInvitation',
      'saveSmtpConfig',
      'removeSmtpConfig',
      'getTokenPolicy',
      'saveTokenPolicy',
      'listOrganisationTokens',
      'revokeOrganisationToken',
      'listServiceAccounts',
      'createServiceAccount',
      'getServiceAccount',
      'changeServiceAccount',
      'removeServiceAccount',
      'createServiceAccountToken',
      'listServiceAccountScopes',
      'listOrganisationConnectedApps',
      'revokeOrganisationConnectedApp',
      'getConnectionPolicy',
      'saveConnectionPolicy',
      'listOAuthApplications',
      'createOAuthApplication',
      'getOAuthApplication',
      'changeOAuthApplication',
      'removeOAuthApplication',
      'createOAuthApplicationSecret',
      'revokeOAuthApplicationSecret',
      'listAuditEntries',
      'listMcpServers',
      'createMcpServer',
      'getMcpServer',
      'changeMcpServer',
      'removeMcpServer',
      'refreshMcpServer',
      'testMcpServer',
      'listMcpTools',
      'decideOnMcpTools',
      'getMcpTool',
      'getMailContent',
      'getMailBrand',
      'saveMailBrand',
    ],
  ],
  [asPerson(), ['listGrantableScopes']],
  [{ ...anyAccount, scope: 'user:read' }, ['getMe']],
  [asPerson('pat:read'), ['listOwnTokens', 'getOwnToken', 'listTokenActivity']],
  [asPerson('pat:write'), ['createToken', 'editOwnToken', 'revokeOwnToken', 'rotateToken']],
  [withToken, ['getOwnCredential', 'revokeOwnCredential']],
  [{ ...withToken, ...forPeople, scope: 'pat:write' }, ['rotateOwnCredential']],
  [asAdmin('user:read'), ['listUsers']],
  [asAdmin('user:write'), ['changeUser', 'removeUser']],
  [asAdmin('config:read'), ['getSmtpConfig', 'getSignInConfig']],
  [byToken('SEND_MAIL'), ['sendEmail', 'reportBounces']],
  [
    asAdmin('SEND_MAIL'),
    [
      'listMailRecords',
      'eraseMailRecipient',
      'getMailRecord',
      'previewEmail',
      'resendMail',
      'listSuppressions',
      'exportSuppressions',
      'addSuppression',
      'removeSuppression',
    ],
  ],
  [byToken('FETCH_CONFIG'), ['updateSmtpConfig']],
  [asAdmin('FETCH_CONFIG'), ['testSmtpConnection']],
  [
    asAdmin('crawl:read'),
    [
      'getSchedule',
      'listSchedules',
      'listNextRuns',
      'previewSchedule',
      'listRuns',
      'getRun',
      'getStatistics',
      'getQueue',
      'listConnectors',
      'listEvents',
      'getInstance',
      'getScheduleOfInstance',
      'listNextRunsOfInstance',
      'previewScheduleOfInstance',
      'listRunsOfInstance',
      'getRunOfInstance',
    ],
  ],
  // A member gets those that the member owns.
  [{ credential: 'any', scope: 'crawl:read' }, ['listInstances']],
  [
    asAdmin('crawl:write'),
    [
      'schedule',
      'pause',
      'resume',
      'runNow',
      'cancelRun',
      'saveInstance',
      'scheduleOfInstance',
      'pauseOfInstance',
      'resumeOfInstance',
      'runNowOfInstance',
      'cancelRunOfInstance',
    ],
  ],
  [
    asAdmin('crawl:delete'),
    [
      'resetCheckpoint',
      'removeSchedule',
      'removeAllSchedules',
      'removeInstance',
      'resetCheckpointOfInstance',
      'removeScheduleOfInstance',
    ],
  ],
  [asAdmin('crawl:work'), ['claimWork', 'reportWork', 'finishWork']],
];

export const demands: ReadonlyMap<string, Demand> = new Map(
  RULES.flatMap(([demand, operations]) => operations.map((operation) => [operation, demand] as const)),
);

/** The operations that a browser's session has to confirm (AUTH-41), with a body that is dangerous. */
export const confirmed: ReadonlyMap<string, object> = new Map([
  ...[
    'createUser',
    'repeatInvitation',
    'removeUser',
    'resetUserSecondFactor',
    'unlinkIdentityProvider',
    'createToken',
    'rotateToken',
    'revokeOrganisationToken',
    'saveTokenPolicy',
    'createServiceAccount',
    'changeServiceAccount',
    'removeServiceAccount',
    'createServiceAccountToken',
    'createOAuthApplication',
    'changeOAuthApplication',
    'removeOAuthApplication',
    'createOAuthApplicationSecret',
    'revokeOAuthApplicationSecret',
    'revokeOrganisationConnectedApp',
    'saveConnectionPolicy',
    'saveSmtpConfig',
    'removeSmtpConfig',
    'saveSignInConfig',
    'verifyIdentityDomain',
    'removeIdentityDomain',
    'createMcpServer',
    'changeMcpServer',
    'removeMcpServer',
    'decideOnMcpTools',
  ].map((operation) => [operation, {}] as const),
  ['changeUser', { role: 'member' }],
]);

/** The tools of the platform, each with the operation whose authority it has, or with what it demands itself. */
export const tools: Readonly<Record<string, string | Demand>> = {
  whoami: 'getMe',
  list_my_tokens: 'listOwnTokens',
  rotate_my_token: 'rotateOwnCredential',
  revoke_my_token: 'revokeOwnToken',
  list_connectors: 'listConnectors',
  schedule_crawl: 'schedule',
  get_crawl: 'getSchedule',
  list_crawls: 'listSchedules',
  pause_crawl: 'pause',
  resume_crawl: 'resume',
  remove_crawl: 'removeSchedule',
  crawl_stats: 'getStatistics',
  send_email: 'sendEmail',
};
