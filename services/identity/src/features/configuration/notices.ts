import type { Caller } from '../audit/actor.js';
import { describeRequest } from '../known-devices/client.js';
import { type SendEmailRequest, toSmtpChangedEmail, type SmtpSnapshot } from '../outgoing-mails/emails.js';
import type { Administrator, RemovedServer, SmtpConfigurationRow } from './queries.js';

export interface SmtpChange {
  /** The configuration that is replaced; or the one that was removed last, which no mail can go through any more. */
  readonly before: SmtpConfigurationRow | RemovedServer;
  /** With the password; undefined when it can't be decrypted any more, or the server was removed earlier. */
  readonly old: SmtpSnapshot | undefined;
  /** Undefined: the configuration was removed. */
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
 * A message to each administrator through each of the two servers. It carries the configuration that it goes through, so
 * that the change waits for no server, and a mail service that still knows the old one asks nobody.
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
