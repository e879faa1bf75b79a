import { once } from 'node:events';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.js';
import type { Teardown } from '../teardown.js';
import { openMailbox } from './mailbox.js';
import { createSmtpCatcher } from './smtp-catcher.js';
import { createInboxWeb } from './web.js';

const HOST = '127.0.0.1';

interface InboxOptions {
  /** The mails are stored in its folder `inbox`. */
  readonly dataDir: string;
  readonly smtpCatcherPort: number;
  readonly inboxPort: number;
}

/**
 * Starts the SMTP server that catches the platform's mail and the page that shows it, both for this machine only: the
 * mail holds codes and links that let people in.
 */
export async function startInbox(options: InboxOptions, teardown: Teardown): Promise<void> {
  const mailbox = await openMailbox(join(options.dataDir, 'inbox'));
  const catcher = createSmtpCatcher(mailbox);
  catcher.listen(options.smtpCatcherPort, HOST);
  await once(catcher.server, 'listening').catch(explain('smtp-catcher-port', options.smtpCatcherPort));
  teardown.add({
    name: 'SMTP catcher',
    // Waits for the clients, whose pools were closed with the services, and then closes their connections.
    stop: () => new Promise((done) => catcher.close(done)),
    kill: () => undefined,
  });
  const web = await createInboxWeb(mailbox);
  await web.listen({ port: options.inboxPort, host: HOST }).catch(explain('inbox-port', options.inboxPort));
  teardown.add({ name: 'inbox', stop: () => web.close(), kill: () => web.server.closeAllConnections() });
}

const explain =
  (flag: string, port: number) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new LaunchError(`Port ${port} was taken by another program meanwhile; --${flag} chooses another.`);
  };
