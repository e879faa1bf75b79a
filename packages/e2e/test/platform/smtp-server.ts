import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** An SMTP server that takes every mail, and that can go away. */
export interface SmtpServer {
  readonly port: number;
  /** The subject of every mail that it has taken, in the order of arrival; a mail that arrived twice is there twice. */
  readonly subjects: readonly string[];
  /** Drops its connections, and refuses new ones. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

/** Starts the server; `goAway` ends it. A mail counts as taken once its last line has arrived. */
export async function startSmtpServer(port: number): Promise<SmtpServer> {
  const subjects: string[] = [];
  const sockets = new Set<Socket>();
  let server: Server;
  const listen = async (): Promise<void> => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket)).on('error', () => undefined);
      converse(socket, (subject) => subjects.push(subject));
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  await listen();
  return {
    port,
    subjects,
    comeBack: listen,
    async goAway() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Follows RFC 5321 as far as a client needs it that sends one mail after the other. */
function converse(socket: Socket, onMail: (subject: string) => void): void {
  let rest = '';
  let content: string[] | undefined;
  const reply = (line: string) => socket.write(`${line}\r\n`);
  function take(line: string): void {
    if (content === undefined) {
      const [, verb = ''] = /^(\w*)/.exec(line.toUpperCase()) ?? [];
      if (verb === 'DATA') content = [];
      reply({ DATA: '354 go on', QUIT: '221 bye', EHLO: '250 8BITMIME' }[verb] ?? '250 ok');
      if (verb === 'QUIT') socket.end();
    } else if (line === '.') {
      onMail(content.find((one) => /^subject: /i.test(one))?.slice('subject: '.length) ?? '');
      content = undefined;
      reply('250 kept');
    } else {
      content.push(line);
    }
  }
  reply('220 ledger ESMTP');
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    lines.forEach(take);
  });
}
