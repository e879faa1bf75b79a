import { type MailOptions, startMail } from './mail.js';
import { startSmtp, toConfiguration } from './smtp-server.js';

/** Starts a mail service, and an SMTP server that its organisation uses. Closing the service closes the server as well. */
export async function startMailWithServer(options?: MailOptions) {
  const mail = await startMail(options);
  const smtp = await startSmtp();
  await mail.configure(toConfiguration(smtp));
  async function close(): Promise<void> {
    await mail.close();
    await smtp.close();
  }
  return { mail: { ...mail, close }, smtp };
}
