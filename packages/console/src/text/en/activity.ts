import { createTexts } from '../isolate.ts';

type Detail = Readonly<Record<string, string | undefined>>;

const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** The texts of the activity of an organisation. */
export const activity = createTexts({
  intro: 'What people, agents and the platform have done in the last two weeks, newest first.',
  about: 'About',
  areas: {
    people: 'People',
    agents: 'Agents',
    crawls: 'Crawls',
    mails: 'Mail',
    settings: 'Settings',
  },
  emptyTitle: 'Nothing has happened yet',
  emptyAdvice: 'Whatever is done, or happens by itself, appears here within seconds.',
  noMatch: 'Nothing of this kind happened',
  columns: { what: 'What happened', when: 'When' },
  older: 'Search the audit log',
  entry: 'What happened',
  raw: 'As programs read it',
  id: 'Id',
  platform: 'The platform',
  operator: 'An operator',
  somebody: 'Somebody',
  requestId: 'Request id',
  open: 'Open',
  more: (who: string) => `All that ${who} did`,
  /**
   * A sentence for each action of the audit: who did it, to whom or what, and what else is recorded. What nobody of the
   * organisation did begins with what it was done to.
   */
  sentences: {
    'application.created': (who, what) => `${who} added the application ${what}`,
    'application.changed': (who, what) => `${who} changed the application ${what}`,
    'application.removed': (who, what) => `${who} removed the application ${what}`,
    'application.secret_created': (who, what) => `${who} created a secret of the application ${what}`,
    'application.secret_revoked': (who, what) => `${who} revoked a secret of the application ${what}`,
    'configuration.connection_policy_saved': (who) => `${who} changed the policy for connected apps`,
    'configuration.sign_in_saved': (who) => `${who} changed the settings of the sign-in`,
    'configuration.smtp_saved': (who) => `${who} changed the SMTP server`,
    'configuration.smtp_removed': (who) => `${who} removed the SMTP server`,
    'configuration.token_policy_saved': (who) => `${who} changed the token policy`,
    'connected_app.authorized': (who, what) => `${who} connected ${what}`,
    'connected_app.expiring': (_who, what) => `The connection of ${what} expires soon`,
    'connected_app.revoked': (who, what) => `${who} disconnected ${what}`,
    'crawl_checkpoint.reset': (who, what) => `${who} had ${what} crawled from the beginning`,
    'crawl_endpoint.created': (who, what) => `${who} added the crawl endpoint ${what}`,
    'crawl_endpoint.removed': (who, what) => `${who} removed the crawl endpoint ${what}`,
    'crawl_endpoint.secret_rotated': (who, what) =>
      `${who} replaced the secret of the crawl endpoint ${what}`,
    'crawl_hook.created': (who, what) => `${who} added a hook of ${what}`,
    'crawl_hook.removed': (who, what) => `${who} removed a hook of ${what}`,
    'crawl_hook.secret_rotated': (who, what) => `${who} replaced the secret of a hook of ${what}`,
    'crawl_instance.removed': (who, what) => `${who} removed the connector ${what}`,
    'crawl_instance.saved': (who, what) => `${who} added or changed the connector ${what}`,
    'crawl_run.cancelled': (who, what) => `${who} cancelled a crawl of ${what}`,
    'crawl_run.requested': (who, what) => `${who} started a crawl of ${what}`,
    'crawl_schedule.paused': (who, what) => `${who} paused the schedule of ${what}`,
    'crawl_schedule.removed': (who, what) => `${who} removed the schedule of ${what}`,
    'crawl_schedule.resumed': (who, what) => `${who} resumed the schedule of ${what}`,
    'crawl_schedule.saved': (who, what) => `${who} set the schedule of ${what}`,
    'crawl_worker.connected': (_who, what) => `A worker claimed a crawl of ${what} for the first time`,
    'destination.created': (who, what) => `${who} added the destination ${what}`,
    'destination.changed': (who, what) => `${who} changed the destination ${what}`,
    'destination.delivery_repeated': (who, what) => `${who} had an event sent to ${what} again`,
    'destination.disabled': (who, what) => `${who} disabled the destination ${what}`,
    'destination.removed': (who, what) => `${who} removed the destination ${what}`,
    'destination.secret_replaced': (who, what) => `${who} replaced the secret of the destination ${what}`,
    'event_subscription.created': (who) => `An agent of ${who} subscribed to events`,
    'event_subscription.ended': (who) => `${who} ended a subscription to events`,
    'group.created': (who, what) => `${who} added the group ${what}`,
    'group.changed': (who, what) => `${who} changed the group ${what}`,
    'group.member_added': (who, what, { group = '' }) => `${who} added ${what} to the group ${group}`,
    'group.member_removed': (who, what, { group = '' }) => `${who} removed ${what} from the group ${group}`,
    'group.removed': (who, what) => `${who} removed the group ${what}`,
    'identity_domain.added': (who, _what, { domain = '' }) => `${who} added the domain ${domain}`,
    'identity_domain.removed': (who, _what, { domain = '' }) => `${who} removed the domain ${domain}`,
    'identity_domain.verified': (_who, _what, { domain = '' }) => `The domain ${domain} was verified`,
    'identity_provider.groups_kept': (_who, what) =>
      `The groups of ${what} were not taken over from the identity provider`,
    'identity_provider.linked': (_who, what) =>
      `The account of ${what} was connected with the identity provider`,
    'identity_provider.refused': () => 'A sign-in by the identity provider was refused',
    'identity_provider.removed': (who) => `${who} removed the identity provider`,
    'identity_provider.requirement_lifted': (who) => `${who} no longer requires the identity provider`,
    'identity_provider.saved': (who) => `${who} changed the identity provider`,
    'identity_provider.unlinked': (who, what) =>
      `${who} disconnected the account of ${what} from the identity provider`,
    'invitation.accepted': (_who, what) => `${what} accepted the invitation`,
    'invitation.lapsed': (_who, what) => `The invitation of ${what} lapsed`,
    'mcp_credential.asked_for': (who, what) => `${who} asked people to connect to ${what}`,
    'mcp_credential.refused': (_who, what, { server = '' }) => `${server} refuses the account of ${what}`,
    'mcp_credential.removed': (who, what, { server = '' }) =>
      who === what ? `${who} disconnected from ${server}` : `${who} disconnected ${what} from ${server}`,
    'mcp_credential.stored': (who, what, { server = '' }) =>
      who === what ? `${who} connected to ${server}` : `${who} connected ${what} to ${server}`,
    'mcp_server.created': (who, what) => `${who} added the MCP server ${what}`,
    'mcp_server.changed': (who, what) => `${who} changed the MCP server ${what}`,
    'mcp_server.removed': (who, what) => `${who} removed the MCP server ${what}`,
    'mcp_server.tools_offered': (_who, what) => `The MCP server ${what} offers tools that wait for approval`,
    'mcp_server.unreachable': (_who, what) => `The MCP server ${what} does not answer`,
    'mcp_server.tools_changed': (who, what) => `${who} decided about tools of ${what}`,
    'operator.command_run': (_who, _what, { command = '' }) => `An operator ran the command ${command}`,
    'organisation.created': (_who, what) => `The organisation ${what} was created`,
    'password.changed': (who, what) =>
      who === what ? `${who} changed the password` : `The password of ${what} was changed`,
    'second_factor.codes_renewed': (who) => `${who} renewed the recovery codes`,
    'second_factor.counter_fell': (_who, what) => `A passkey of ${what} was refused: it may be a copy`,
    'second_factor.enrolled': (_who, what) => `${what} added a second factor`,
    'second_factor.removed': (_who, what) => `${what} removed a second factor`,
    'second_factor.renamed': (_who, what) => `${what} renamed a second factor`,
    'second_factor.reset': (who, what) => `${who} reset the second factors of ${what}`,
    'service_account.changed': (who, what) => `${who} changed the service account ${what}`,
    'service_account.created': (who, what) => `${who} added the service account ${what}`,
    'service_account.removed': (who, what) => `${who} removed the service account ${what}`,
    'session.confirmed': (who) => `${who} confirmed who they are`,
    'session.created': (who, _what, { device }) =>
      device === 'new' ? `${who} signed in from a new device` : `${who} signed in`,
    'session.ended': (who) => `${who} ended a session`,
    'sessions.ended': (who, what) =>
      who === what ? `${who} ended all sessions` : `The sessions of ${what} were ended`,
    'sign_in.failed': (_who, what) => `A sign-in as ${what} failed`,
    'sign_in.first_factor': (_who, what) => `${what} passed the first step of a sign-in`,
    'token.changed': (who, what) => `${who} changed the token ${what}`,
    'token.created': (who, what) => `${who} created the token ${what}`,
    'token.expiring': (_who, what) => `The token ${what} expires soon, or has expired`,
    'token.first_used': (_who, what) => `The token ${what} was used for the first time`,
    'token.leaked': (_who, what) => `The token ${what} was found in public and revoked`,
    'token.refused': (_who, what) => `The token ${what} was refused, because it is no longer valid`,
    'token.reused': (_who, what) => `The token ${what} was used after it was replaced: it may be stolen`,
    'token.revoked': (who, what) => `${who} revoked the token ${what}`,
    'token.rotated': (who, what) => `${who} replaced the token ${what} by a new one`,
    'user.created': (who, what) => `${who} added ${what}`,
    'user.invited': (who, what) => `${who} invited ${what}`,
    'user.changed': (who, what) =>
      who === what ? `${who} changed the own account` : `${who} changed the account of ${what}`,
    'user.role_changed': (who, what) => `${who} changed the role of ${what}`,
    'user.removed': (who, what) => `${who} removed ${what}`,
  } satisfies Record<string, (who: string, what: string, detail: Detail) => string>,
  /** An action that this console does not know, as with a newer platform. */
  unknown: (who: string, action: string, what: string) => [who, action, what].filter(Boolean).join(' · '),
  crawls: {
    completed: (what: string, items: number | undefined) =>
      items === undefined
        ? `A crawl of ${what} completed`
        : `A crawl of ${what} completed with ${count(items, 'document')}`,
    failed: (what: string) => `A crawl of ${what} failed`,
    aborted: (what: string) => `A crawl of ${what} was ended`,
    skipped: (what: string) => `A crawl of ${what} was skipped`,
    failing: (what: string, failures: number) =>
      `The crawls of ${what} keep failing, ${count(failures, 'time')} in a row`,
    recovered: (what: string) => `The crawls of ${what} complete again`,
  },
  mails: {
    sent: (recipients: number) => `A mail was sent to ${count(recipients, 'recipient')}`,
    failed: (recipients: number) => `A mail to ${count(recipients, 'recipient')} failed`,
    unknown: (recipients: number) => `A mail to ${count(recipients, 'recipient')} was perhaps sent`,
    suppressed: 'An address was suppressed: it gets no more mails',
  },
});
