/*
 * Facts: what happened in the platform, for whoever wants to know. A fact is a CloudEvent (CloudEvents 1.0, in JSON) in the
 * feed of its organisation.
 */

/** The types of facts that are entries of the audit, and what each says. Their `data` is the entry. */
const auditedTypes = {
  'audit.entry':
    'Something else was recorded in the audit. Where types are chosen, it stands for every entry of the audit, whatever its type.',
  'token.created': 'A personal access token was created.',
  'token.rotated': 'A token was replaced by another one.',
  'token.revoked': 'A token was revoked.',
  'token.expiring': 'A token expires in 14, 7 or 1 days, or has expired.',
  'token.leaked': 'A token was reported as leaked, and revoked.',
  'token.reused': 'A token was used after it had been replaced: it may be stolen.',
  'member.invited': 'Somebody was invited.',
  'member.joined': 'Somebody accepted an invitation, or was added with a password.',
  'member.removed': 'A member was removed.',
  'member.role_changed': 'A member was promoted to administrator, or demoted.',
  'group.created': 'A group was created, by hand or by the first sign-in whose provider named it.',
  'group.changed': 'A group got another name or external id.',
  'group.removed': 'A group was removed.',
  'group.member_added': 'A member or a service account came into a group.',
  'group.member_removed': 'A member or a service account left a group.',
  'session.suspicious': 'A member signed in from a device that the account had not signed in from.',
  'app.connected': 'A member connected an application.',
  'app.expiring': 'The connection of an application expires within a week.',
  'app.disconnected': 'The connection of an application ended.',
  'mcp.connected': 'A member or a service account got a credential of its own at a mounted MCP server.',
  'mcp.connection_failing':
    'A mounted MCP server refuses the own credential of an account, for the first time.',
  'mcp.disconnected': "An account's own credential at a mounted MCP server was deleted.",
  'mcp.definition_changed': 'A mounted MCP server offers tools that wait for approval.',
  'mcp.server_down':
    'The tools of a mounted MCP server could not be listed, for the first time since they could.',
} as const;

/** The types of facts, and what each says. */
export const factTypes = {
  ...auditedTypes,
  'crawl.failing': 'The runs of a connector keep failing; again once a day while they do.',
  'crawl.recovered': 'A run of a connector that kept failing has completed.',
  'crawl.run.completed': 'A run has completed. With the worker `event`, it only published its sync event.',
  'crawl.run.failed': 'A run has failed, and is not tried again.',
  'crawl.run.aborted': 'Somebody ended a run: it was cancelled, or its schedule was paused or removed.',
  'crawl.run.skipped':
    'A run was skipped: it was due while the previous one was in progress, or too late. Of several in a row, the first one.',
  'mail.sent': 'An SMTP server has accepted a mail for at least one recipient.',
  'mail.failed': 'A mail was refused for good, or has expired before it could be sent.',
  'mail.unknown': 'A mail was handed over, and the server did not say whether it accepted it.',
  'mail.suppressed': 'An address gets no more mails of the organisation, for 90 days.',
} as const;

export type FactType = keyof typeof factTypes;

/** The types of entries of the audit. */
export type AuditType = keyof typeof auditedTypes;

/** Whether facts of the type are entries of the audit. */
export const isAuditType = (type: string): boolean => Object.hasOwn(auditedTypes, type);

/** Returns the types of the facts that are meant by `types`: `audit.entry` stands for all entries of the audit. */
export const expandFactTypes = (types: readonly string[]): readonly string[] =>
  types.includes('audit.entry') ? [...new Set([...types, ...Object.keys(auditedTypes)])] : types;

/** A fact as the feed has it. */
export interface FactEvent {
  readonly specversion: '1.0';
  /** Unique; consumers drop an id that they have seen. */
  readonly id: string;
  /** `/organisations/{orgId}` */
  readonly source: string;
  readonly type: FactType;
  /** When it happened, in ISO 8601. */
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, unknown>>;
}
