import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describeWith, waitFor } from '@platform/testing';
import { attachment, type MailUnderTest, startMail } from '../mail.js';

/*
 * Postfix and Exim as their distribution builds them. Both greylist grey@example.com, know ada@example.com, refuse every
 * other recipient, and accept at most 200 kB.
 */

const run = promisify(execFile);
const MAX_BYTES = 200_000;

interface RealServer {
  readonly port: number;
  /** The folder of the mailboxes. */
  readonly mails: string;
  stop(): Promise<void>;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const getId = async (user: string, kind: '-u' | '-g') => Number((await run('id', [kind, user])).stdout);

async function createFolders(user: string) {
  const folder = await mkdtemp(join(tmpdir(), 'mail-server-'));
  await chmod(folder, 0o755);
  for (const name of ['mails', 'spool', 'data', 'log']) await mkdir(join(folder, name));
  await run('chown', ['-R', user, folder]);
  return folder;
}

/** The policy server of a greylist: each sender and recipient is deferred once (Postfix, SMTPD_POLICY_README). */
async function startGreylist(): Promise<Server & { readonly port: number }> {
  const seen = new Set<string>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    let request: Record<string, string> = {};
    createInterface(socket).on('line', (line) => {
      const [name = '', ...value] = line.split('=');
      if (line !== '') {
        request[name] = value.join('=');
        return;
      }
      const triplet = `${request['client_address']} ${request['sender']} ${request['recipient']}`;
      const isDeferred = request['recipient'] === 'grey@example.com' && !seen.has(triplet);
      seen.add(triplet);
      socket.write(`action=${isDeferred ? '450 4.2.0 Greylisted' : 'DUNNO'}\n\n`);
      request = {};
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

async function startPostfix(): Promise<RealServer> {
  const folder = await createFolders('root');
  const [port, greylist] = [await findFreePort(), await startGreylist()];
  const [uid, gid] = [await getId('postfix', '-u'), await getId('postfix', '-g')];
  await run('chown', [`${uid}:${gid}`, join(folder, 'data'), join(folder, 'mails')]);
  await writeFile(
    join(folder, 'main.cf'),
    `compatibility_level = 3.6
queue_directory = ${folder}/spool
data_directory = ${folder}/data
maillog_file = ${folder}/log/postfix
maillog_file_prefixes = ${tmpdir()}
myhostname = mx.example.com
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mydestination =
alias_maps =
smtpd_tls_security_level = none
message_size_limit = ${MAX_BYTES}
virtual_mailbox_limit = 0
virtual_mailbox_domains = example.com
virtual_mailbox_maps = inline:{ {ada@example.com = ada/}, {grey@example.com = grey/} }
virtual_mailbox_base = ${folder}/mails
virtual_minimum_uid = 1
virtual_uid_maps = static:${uid}
virtual_gid_maps = static:${gid}
smtpd_recipient_restrictions = reject_unauth_destination, reject_unlisted_recipient, check_policy_service inet:127.0.0.1:${greylist.port}
`,
  );
  await writeFile(
    join(folder, 'master.cf'),
    `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`,
  );
  await run('postfix', ['-c', folder, 'start']);
  return {
    port,
    mails: join(folder, 'mails'),
    async stop() {
      await run('postfix', ['-c', folder, 'stop']);
      greylist.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function startExim(): Promise<RealServer> {
  const folder = await createFolders('Debian-exim');
  const port = await findFreePort();
  await writeFile(
    join(folder, 'exim.conf'),
    `primary_hostname = mx.example.com
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
message_size_limit = ${MAX_BYTES}
tls_advertise_hosts =
deliver_drop_privilege
acl_smtp_rcpt = check_rcpt
begin acl
check_rcpt:
  deny    !domains = example.com
          message = 550 5.7.1 Relaying denied
  deny    !local_parts = ada : grey
          message = 550 5.1.1 No such user
  # The first attempt is deferred, and so are others within a second.
  defer   local_parts = grey
          !seen = -1s / key=\${sender_host_address}_\${sender_address}_\${local_part}
          message = 451 4.7.1 Greylisted
  accept
begin routers
mailboxes:
  driver = accept
  transport = maildir
begin transports
maildir:
  driver = appendfile
  maildir_format
  directory = ${folder}/mails/\${lookup{$local_part}lsearch,ret=key{${folder}/users}}
  user = Debian-exim
`,
  );
  await writeFile(join(folder, 'users'), 'ada:\ngrey:\n');
  const exim = spawn('exim4', ['-C', join(folder, 'exim.conf'), '-bdf', '-oX', `127.0.0.1.${port}`], {
    stdio: 'inherit',
  });
  return {
    port,
    mails: join(folder, 'mails'),
    async stop() {
      exim.kill();
      await once(exim, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
  });

const notice = { emailTemplateType: 'accountCreation', templateData: { userName: 'Ada' } };

describeWith('mail-servers', 'mails to real servers', () => {
  describe.each([
    ['Postfix', startPostfix, '4.2.0'],
    ['Exim', startExim, '4.7.1'],
  ])('%s', (_name, start, greylisted) => {
    let mail: MailUnderTest;
    let server: RealServer;
    beforeAll(async () => {
      server = await start();
      await waitFor(() => isListening(server.port), { what: 'the server' });
      mail = await startMail({ environment: { SMTP_TIMEOUT_MS: '10000' } });
      await mail.configure({
        host: '127.0.0.1',
        port: server.port,
        fromEmail: 'noreply@corp.example',
        tls: 'none',
      });
    });
    afterAll(async () => {
      await mail.close();
      await server.stop();
    });

    const enqueue = async (fields: object): Promise<string> => {
      const { status, body } = await mail.send(fields, { prefer: 'respond-async' });
      expect(status).toBe(202);
      return body.data.id as string;
    };
    const waitForMail = (id: string, isWanted: (record: { state: string; attempts: number }) => boolean) =>
      waitFor(
        async () => {
          const { body } = await mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session });
          return isWanted(body.data) && body.data;
        },
        { what: 'the outcome' },
      );
    const getOutcomes = (record: { recipients: { outcome: string; status?: string }[] }) =>
      record.recipients.map(({ outcome, status }) => [outcome, status].filter(Boolean).join(' '));
    /** Waits until the server has put mails into a mailbox. */
    const read = (user: string) =>
      waitFor(
        async () => {
          const folder = join(server.mails, user, 'new');
          const names = await readdir(folder).catch(() => []);
          return names.length > 0 && Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
        },
        { what: `a mail to ${user}` },
      );

    test('distinguishes recipients: one gets the mail, one is greylisted and gets it later, one is suppressed', async () => {
      const sendEmailTo = ['ada@example.com', 'grey@example.com', 'nobody@example.com'];
      const subject = 'To three recipients';
      const id = await enqueue({ ...notice, sendEmailTo, subject });
      const first = await waitForMail(id, ({ state, attempts }) => state === 'queued' && attempts === 1);
      expect(getOutcomes(first)).toEqual(['accepted', `deferred ${greylisted}`, 'refused 5.1.1']);
      mail.advance(2 * 60_000);
      const last = await waitForMail(id, ({ state }) => state === 'sent');
      expect(getOutcomes(last)).toEqual(['accepted', 'accepted', 'refused 5.1.1']);
      for (const user of ['ada', 'grey']) {
        const [received, ...more] = await read(user);
        expect(received).toContain(`Subject: ${subject}`);
        expect(more).toEqual([]);
      }
      const again = await mail.send({ ...notice, sendEmailTo: ['ada@example.com', 'nobody@example.com'] });
      expect(again.body.data.data).toBe('Email sent, without the suppressed nobody@example.com');
    });

    test('a mail that is too large fails for good', async () => {
      const content = Buffer.alloc(1.5 * MAX_BYTES, 'large').toString('base64');
      const id = await enqueue({
        ...notice,
        sendEmailTo: ['ada@example.com'],
        attachments: [attachment({ content })],
      });
      const failed = await waitForMail(id, ({ state }) => state === 'failed');
      expect([failed.attempts, failed.failure]).toMatchObject([1, { kind: 'permanent', reply: 552 }]);
    });

    test('a code to a mailbox that does not exist is refused with the reason', async () => {
      const { status, body } = await mail.send({ sendEmailTo: ['nobody@example.com'] });
      expect([status, body.error]).toMatchObject([
        500,
        { code: 'SMTP_REFUSED', details: [{ message: 'The recipient does not exist (550 5.1.1)' }] },
      ]);
    });
  });
});
