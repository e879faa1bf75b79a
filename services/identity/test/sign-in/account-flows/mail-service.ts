import { spawn } from 'node:child_process';
import { type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { callbackify } from 'node:util';
import { migrate } from '@platform/service-kit';
import { createTestDatabase, ENCRYPTION_KEYS, waitFor } from '@platform/testing';
import pg from 'pg';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const mailFolder = fileURLToPath(new URL('../../../../mail', import.meta.url));
const migrationsDir = `${mailFolder}/prisma/migrations`;

export const mailClientSecret = 'a-secret-of-the-mail-service-0123456789';

export interface Inbox {
  readonly port: number;
  readonly mails: Email[];
  /** While set, every mail is rejected. */
  isBusy: boolean;
  /** While set, every mail is accepted, but the connection closes before the response. */
  isForgetful: boolean;
  /** Recipients that are rejected as unknown. */
  readonly unknown: Set<string>;
  close(): Promise<void>;
}

/** A real SMTP server that keeps the mails it accepts. */
export async function startInbox(): Promise<Inbox> {
  const mails: Email[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onMailFrom(_address, _session, callback) {
      if (inbox.isBusy) callback(Object.assign(new Error('busy'), { responseCode: 451 }));
      else callback();
    },
    onRcptTo({ address }, _session, callback) {
      if (inbox.unknown.has(address))
        callback(Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }));
      else callback();
    },
    onData(stream, { remotePort }, callback) {
      callbackify(async () => {
        mails.push(await PostalMime.parse(Buffer.concat((await stream.toArray()) as Buffer[])));
        // Only its own connection: another one may be in the middle of a mail, which has not been accepted yet.
        if (inbox.isForgetful)
          for (const socket of sockets) if (socket.remotePort === remotePort) socket.destroy();
      })(callback);
    },
  });
  server.on('error', () => undefined);
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const inbox: Inbox = {
    port: (server.server.address() as AddressInfo).port,
    mails,
    isBusy: false,
    isForgetful: false,
    unknown: new Set(),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
  return inbox;
}

export interface MailService {
  readonly url: string;
  /** The log lines of all its processes. */
  logged(): readonly { readonly requestId?: string; readonly req?: { readonly path: string } }[];
  /** Starts it again after `stop`, with the same port and database. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Makes the mails of its queue due. @returns how many attempts the mails without an outcome have had, for each of them. */
  hurry(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Runs the built mail service as a process. */
export async function createMailService(port: number, identityUrl: string): Promise<MailService> {
  const database = await createTestDatabase({
    template: 'mail',
    migrationsDir,
    migrate: async (url) => {
      await migrate(url, migrationsDir);
    },
  });
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  let written = '';
  let stopRunning: (() => Promise<void>) | undefined;
  async function start(): Promise<void> {
    const child = spawn(process.execPath, [`${mailFolder}/dist/server.js`], {
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: database.url,
        IDENTITY_URL: identityUrl,
        SERVICE_CLIENT_SECRET: mailClientSecret,
        ENCRYPTION_KEYS,
        SMTP_ALLOWED_TARGETS: '127.0.0.0/8',
        LOG_LEVEL: 'debug',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (written += text));
    const exited = new Promise((resolve) => child.once('exit', resolve));
    stopRunning = async () => {
      stopRunning = undefined;
      child.kill('SIGTERM');
      await exited;
    };
    await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, {
      what: 'the start of the mail service',
    });
  }
  return {
    url: `http://127.0.0.1:${port}`,
    logged: () =>
      written
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as { requestId?: string }),
    start,
    stop: async () => stopRunning?.(),
    async hurry() {
      await db.query(
        `update mails set next_attempt_at = now() where state = 'queued' and next_attempt_at > now()`,
      );
      const { rows } = await db.query<{ attempts: number }>(
        `select attempts from mails where state in ('queued', 'sending')`,
      );
      return rows.map(({ attempts }) => attempts);
    },
    async close() {
      await stopRunning?.();
      await db.end();
      await database.drop();
    },
  };
}
