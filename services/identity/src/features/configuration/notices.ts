import type { Caller } from '../audit/actor.js';
import { describeRequest } from '../known-clients/client.js';
import { type Letter, smtpChangedLetter, type SmtpSnapshot } from '../outgoing-mails/letters.js';
import type { Administrator, SmtpConfigurationRow } from './queries.js';

export interface SmtpChange {
  readonly before: SmtpConfigurationRow;
  /** With the password; undefined when that can't be opened any more. */
  readonly old: SmtpSnapshot | undefined;
  /** Undefined: the configuration was removed. */
  readonly present: SmtpSnapshot | undefined;
}

const describeServer = ({
  host,
  port,
  fromEmail,
}: Pick<SmtpSnapshot, 'host' | 'port' | 'fromEmail'>): string => `${host}:${port}, as ${fromEmail}`;

/**
 * A letter to each administrator through each of the two servers. It carries the configuration that it goes through, so
 * that the change waits for no server, and a mail service that still knows the old one asks nobody.
 */
export function smtpNotices(
  administrators: readonly Administrator[],
  { fullName, email, client }: Caller,
  { before, old, present }: SmtpChange,
  at: Date,
): { readonly userId: string; readonly letter: Letter }[] {
  const detail = {
    changedBy: `${fullName} (${email})`,
    ...describeRequest(client, at),
    oldServer: describeServer(before),
    newServer: present ? describeServer(present) : 'none: no mail is sent',
  };
  return [old, present]
    .filter((smtp) => smtp !== undefined)
    .flatMap((smtp) =>
      administrators.map((to) => ({ userId: to.id, letter: smtpChangedLetter(to, detail, smtp) })),
    );
}
