import { findFreePort } from '@platform/embedded';
import { type Answer, waitFor } from '@platform/testing';
import type { Email } from 'postal-mime';
import { type IdentityUnderTest, serviceClient, startIdentity, type StartOptions } from '../../identity.js';
import {
  createMailService,
  type Inbox,
  mailClientSecret,
  type MailService,
  startInbox,
} from './mail-service.js';
import { createUsers } from './users.js';

/** Identity in this process, the mail service in a separate process, and an SMTP server behind it. */
export interface Platform {
  readonly identity: IdentityUnderTest;
  readonly mail: MailService;
  readonly inbox: Inbox;
  /** The administrator's session. */
  readonly session: string;
  post(path: string, body: object, headers?: Record<string, string>): Promise<Answer>;
  createUser(fields?: object): Promise<{ id: string; email: string }>;
  /** Waits for the newest of `count` mails with the subject. */
  mailTo(email: string, subject: RegExp, count?: number): Promise<Email>;
  mailsTo(email: string, subject?: RegExp): Email[];
  /** Has the mails that are held for a minute sent now. */
  releaseHeld(): Promise<void>;
  /** Waits until every mail was sent or dropped, held mails included, so that no further mail can arrive. */
  drained(): Promise<void>;
  /** Clears the cooldowns, so that the next mail of each kind is sent at once. */
  minutePassed(): Promise<void>;
  close(): Promise<void>;
}

export const newPassword = 'another-horse-staple';

/** The subjects of the mails that these tests look for. */
export const subjects = {
  code: /^Your sign-in code$/,
  invitation: /^You are invited to Example$/,
  passwordLink: /^Choose a new password$/,
  ready: /^Your account is ready$/,
};

export const getStatuses = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
export const codeIn = ({ text = '' }: Email): string => /^ *(\d{6})$/m.exec(text)?.[1] ?? '';
export const linkIn = ({ text = '' }: Email): URL => new URL(/^https?:\S+$/m.exec(text)?.[0] ?? '');
export const tokenIn = (mail: Email): string =>
  new URLSearchParams(linkIn(mail).hash.slice(1)).get('token') ?? '';

export async function startPlatform(
  environment: NodeJS.ProcessEnv = {},
  options: StartOptions = {},
): Promise<Platform> {
  const inbox = await startInbox();
  const mailPort = await findFreePort();
  const identity = await startIdentity({
    ...options,
    environment: {
      MAIL_URL: `http://127.0.0.1:${mailPort}`,
      SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret},mail:${mailClientSecret}`,
      TRUST_PROXY: '127.0.0.1',
      ...environment,
    },
  });
  const mail = await createMailService(mailPort, identity.url);
  await mail.start();
  const session = await identity.login();
  const smtp = { host: '127.0.0.1', port: inbox.port, fromEmail: 'noreply@corp.example', tls: 'none' };
  await identity.call('POST', '/api/v1/configurationManager/smtpConfig', { token: session, body: smtp });
  const mailsTo = (email: string, about = /(?:)/) =>
    inbox.mails.filter(
      ({ to, subject = '' }) =>
        about.test(subject) && to?.some(({ address }) => address === email.toLowerCase()),
    );
  async function releaseHeld(): Promise<void> {
    await identity.db.query(
      'update outgoing_mails set next_attempt_at = created_at where merge_key is not null and attempts = 0',
    );
  }
  return {
    identity,
    mail,
    inbox,
    session,
    mailsTo,
    post: (path, body, headers) =>
      identity.call('POST', `/api/v1/auth/${path}`, { body, ...(headers && { headers }) }),
    createUser: createUsers(identity, session),
    mailTo: (email, subject, count = 1) =>
      waitFor(
        () => {
          const found = mailsTo(email, subject);
          return found.length >= count ? found.at(-1) : undefined;
        },
        { what: `mail ${count} to ${email}` },
      ),
    releaseHeld,
    async drained() {
      await releaseHeld();
      await waitFor(
        async () => {
          // First the outbox: a mail that is handed over between the two questions must be seen by one of them.
          const { rowCount } = await identity.db.query('select 1 from outgoing_mails');
          return (await mail.hurry()).length === 0 && rowCount === 0;
        },
        { what: 'the end of the outgoing mails' },
      );
    },
    async minutePassed() {
      await identity.db.query(`delete from rate_limits where key like 'mail:minute:%'`);
    },
    async close() {
      await mail.close();
      await identity.close();
      await inbox.close();
    },
  };
}
