import type { Caller } from '../../base/caller/actor.js';
import { describeRequest } from '../../base/caller/client.js';
import type { SendEmailRequest, SmtpSnapshot } from '../../mails/outbox/email-request.js';
import { toSmtpChangedEmail } from '../../mails/outbox/emails.js';
import type { Administrator, RemovedServer, SmtpConfigurationRow } from './queries.js';

export interface SmtpChange {
  /** The configuration that is replaced, or the one that was removed last. */
  readonly before: SmtpConfigurationRow | RemovedServer;
  /** The old configuration with its secrets; undefined when they can't be decrypted, or was removed earlier. */
  readonly old: SmtpSnapshot | undefined;
  /** The new configuration; undefined when it was removed. */
  readonly present: SmtpSnapshot | undefined;
}

const describeServer = ({
  host,
  port,
  fromEmail,
}: Pick<SmtpSnapshot, 'host' | 'port' | 'fromEmail'>): string => `${host}:${port}, as ${fromEmail}`;

function describeBefore(before: SmtpChange['before']): string {
  if ('tls' in before) return describeServer(before);
  const { host, port, fromEmail } = before;
  return host === null ? 'removed earlier' : `${host}:${port}, as ${fromEmail} (removed earlier)`;
}

/**
 * Creates a message to each administrator through each of the two servers. Each message carries the configuration that
 * it is sent with, so that the change doesn't wait for either server and the mail service needn't look it up.
 */
export function smtpNotices(
  administrators: readonly Administrator[],
  { fullName, email, client }: Caller,
  { before, old, present }: SmtpChange,
  at: Date,
): { readonly userId: string; readonly message: SendEmailRequest }[] {
  const detail = {
    changedBy: `${fullName} (${email})`,
    ...describeRequest(client, at),
    oldServer: describeBefore(before),
    newServer: present ? describeServer(present) : 'none: no mail is sent',
  };
  return [old, present]
    .filter((smtp) => smtp !== undefined)
    .flatMap((smtp) =>
      administrators.map((to) => ({ userId: to.id, message: toSmtpChangedEmail(to, detail, smtp) })),
    );
}
