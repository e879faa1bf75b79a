/*
 * Facts: what happened in the platform, for whoever wants to know. A fact is a CloudEvent (CloudEvents 1.0, in JSON) in the
 * feed of its organisation.
 */

/** The types of facts, and what each says. */
export const factTypes = {
  'audit.entry':
    'Something was recorded in the audit; `data` is the entry. What follows from it may be a fact of its own.',
  'token.created': 'A personal access token was created.',
  'token.rotated': 'A token was replaced by another one.',
  'token.revoked': 'A token was revoked.',
  'token.expiring': 'A token expires in 14, 7 or 1 days, or has expired.',
  'token.leaked': 'A token was reported as leaked, and revoked.',
  'token.reused': 'A token was used after it had been replaced: it may be stolen.',
  'member.invited': 'Somebody was invited.',
  'member.joined': 'Somebody accepted an invitation, or was added with a password.',
  'member.removed': 'A member was removed.',
  'member.role_changed': 'A member became an administrator, or is none any more.',
  'session.suspicious': 'A member signed in from a device that the account had not signed in from.',
  'app.connected': 'A member connected an application.',
  'app.disconnected': 'The connection of an application ended.',
  'mcp.definition_changed': 'A mounted MCP server offers tools that wait for approval.',
  'mcp.server_down':
    'The tools of a mounted MCP server could not be listed, for the first time since they could.',
  'crawl.failing': 'The runs of a connector keep failing; again once a day while they do.',
  'crawl.recovered': 'A run of a connector that kept failing has completed.',
} as const;

export type FactType = keyof typeof factTypes;

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
