import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Mailbox } from './mailbox.js';

const MAX_MAIL_BYTES = 50 * 1_048_576;

/** Creates an SMTP server that accepts any mail and any login, and delivers into the mailbox. */
export function createSmtpCatcher(mailbox: Mailbox): SMTPServer {
  const onAccepted = callbackify((stream: SMTPServerDataStream, session: SMTPServerSession) =>
    accept(mailbox, stream, session),
  );
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    size: MAX_MAIL_BYTES,
    onAuth: ({ username }, _session, callback) => callback(null, { user: username ?? '' }),
    onData: (stream, session, callback) => {
      onAccepted(stream, session, callback);
    },
  });
  // A client that drops its connection needs no handling.
  server.on('error', () => undefined);
  return server;
}

async function accept(
  mailbox: Mailbox,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
): Promise<void> {
  const raw = await buffer(stream);
  if (stream.sizeExceeded) throw Object.assign(new Error('Message too large'), { responseCode: 552 });
  const from = envelope.mailFrom ? envelope.mailFrom.address : '';
  await mailbox.add({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
}
