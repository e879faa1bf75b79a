import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type Answer, waitFor } from '@platform/testing';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SendEmailRequest } from '../../../src/mails/outbox/email-request.js';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { createUsers } from './users.js';

export const newPassword = 'another-horse-staple';

type Template = SendEmailRequest['emailTemplateType'];

/** A mail as identity hands it over: the mail service puts it into words. */
interface HandedOver extends Omit<SendEmailRequest, 'templateData'> {
  readonly templateData: Readonly<Record<string, unknown>>;
}

const internalApi = new URL('../../../../mail/openapi.internal.json', import.meta.url);
const { components } = JSON.parse(readFileSync(internalApi, 'utf8')) as {
  components: { schemas: { InternalMailBody: TSchema } };
};
const contract = Compile(components.schemas.InternalMailBody);

/**
 * Stands in for the mail service, and keeps the mails that identity hands over to it. What the real one makes of them is
 * tested in outgoing-mails.full.test.ts and in the browser, and its texts in services/mail.
 */
async function startMailbox() {
  const mails: HandedOver[] = [];
  const faults: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      faults.push(...contract.Errors(body));
      mails.push(body as HandedOver);
      const data = { status: true, data: 'stored', id: '01900000-0000-7000-8000-000000000000' };
      response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    mails,
    /** What the real service would have refused. */
    faults,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const codeIn = ({ templateData: { otp } }: HandedOver): string => otp as string;
export const linkIn = ({ templateData: { inviteLink, resetLink } }: HandedOver): URL =>
  new URL((inviteLink ?? resetLink) as string);
export const tokenIn = (mail: HandedOver): string =>
  new URLSearchParams(linkIn(mail).hash.slice(1)).get('token') ?? '';

/** Starts identity with a mailbox behind it. */
export async function startWithMailbox(environment: NodeJS.ProcessEnv = {}) {
  const mailbox = await startMailbox();
  const identity: IdentityUnderTest = await startIdentity({
    environment: { MAIL_URL: mailbox.url, TRUST_PROXY: '127.0.0.1', ...environment },
  });
  const session = await identity.login();
  const smtp = { host: 'smtp.corp.example', fromEmail: 'noreply@corp.example' };
  await identity.call('POST', '/api/v1/configurationManager/smtpConfig', { token: session, body: smtp });
  const mailsTo = (email: string, template?: Template) =>
    mailbox.mails.filter(
      ({ sendEmailTo: [to], emailTemplateType }) =>
        to === email.toLowerCase() && (template === undefined || template === emailTemplateType),
    );
  return {
    identity,
    /** The administrator's session. */
    session,
    mailsTo,
    post: (path: string, body: object, headers?: Record<string, string>): Promise<Answer> =>
      identity.call('POST', `/api/v1/auth/${path}`, { body, ...(headers && { headers }) }),
    createUser: createUsers(identity, session),
    /** Waits for the newest of `count` mails of the template. */
    mailTo: (email: string, template: Template, count = 1): Promise<HandedOver> =>
      waitFor(
        () => {
          const found = mailsTo(email, template);
          return found.length >= count ? found.at(-1) : undefined;
        },
        { what: `mail ${count} to ${email}` },
      ),
    /** Waits until every mail was handed over or dropped, those that are held included. */
    async drained(): Promise<void> {
      await identity.db.query(
        'update outgoing_mails set next_attempt_at = created_at where merge_key is not null and attempts = 0',
      );
      const isEmpty = async () => (await identity.db.query('select from outgoing_mails')).rowCount === 0;
      await waitFor(isEmpty, { what: 'the end of the outgoing mails' });
    },
    /** Clears the cooldowns, so that the next mail of each kind is sent at once. */
    async minutePassed(): Promise<void> {
      await identity.db.query(`delete from rate_limits where key like 'mail:minute:%'`);
    },
    async close(): Promise<void> {
      await identity.close();
      await mailbox.close();
      expect(mailbox.faults).toEqual([]);
    },
  };
}

export const getStatuses = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
