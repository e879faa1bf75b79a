import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A point in the dialogue where a test decides what the server does. `CHUNK` is the arrival of the first bytes of a message. */
export type Step =
  | 'CONNECT'
  | 'EHLO'
  | 'STAR'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'CHUNK'
  | 'MESSAGE'
  | 'RSET'
  | 'QUIT';

/**
 * Returns a reply, or one of these: `hang` sends nothing, `stall` stops reading, `sip` reads one chunk ten times a second,
 * `close` closes the connection, and undefined sends the normal reply.
 */
export type Behaviour = (step: Step, line: string, count: number) => string | undefined;

export interface AcceptedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  /** The raw message before decoding. */
  readonly bytes: Buffer;
}

/** An SMTP server that misbehaves on demand, and records the mails that it accepted. */
export interface SmtpUnderTest {
  readonly port: number;
  readonly accepted: AcceptedMail[];
  readonly connections: () => number;
  /** The number of times that a step was reached, over all connections. */
  readonly count: (step: Step) => number;
  /** The number of open connections. */
  readonly open: () => number;
  /** Sends a line to all open connections, after a `hang`. */
  say(line: string): void;
  behave(behaviour: Behaviour): void;
  /** Answers lines that are no command, such as those of a login in several steps. */
  answerUnknown(answer: (line: string) => string): void;
  close(): Promise<void>;
}

/** Returns a configuration with which an organisation sends through the server. */
export const toConfiguration = ({ port }: Pick<SmtpUnderTest, 'port'>, fields: object = {}) => ({
  host: '127.0.0.1',
  port,
  fromEmail: 'noreply@corp.example',
  ...fields,
});

const replies: Readonly<Record<Step, string>> = {
  CONNECT: '220 test ESMTP',
  EHLO: '250-test\r\n250-SMTPUTF8\r\n250 8BITMIME',
  // STARTTLS: the server sends nothing after this reply, as it doesn't support TLS.
  STAR: '220 go on',
  AUTH: '235 2.7.0 welcome',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  CHUNK: '',
  MESSAGE: '250 2.0.0 queued',
  RSET: '250 ok',
  QUIT: '221 bye',
};

const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';

class Session {
  private pending = '';
  private from = '';
  private to: string[] = [];
  private isReadingMessage = false;
  private message: Buffer[] = [];

  constructor(
    private readonly socket: Socket,
    private readonly answer: (step: Step, line: string) => string,
    private readonly accept: (mail: AcceptedMail) => void,
    private readonly answerUnknown: (line: string) => string,
  ) {}

  /** @returns whether the reply is positive. */
  private reply(step: Step, line = ''): boolean {
    const text = this.answer(step, line);
    if (text === 'close') this.socket.destroy();
    else if (text === 'stall') this.socket.pause();
    else if (text === 'sip') this.sip();
    else if (text !== 'hang' && text !== '') this.socket.write(`${text}\r\n`);
    return text === '' || /^[23]/.test(text);
  }

  private sip(): void {
    this.socket.on('data', () => {
      this.socket.pause();
      setTimeout(() => this.socket.resume(), 100);
    });
  }

  say(line: string): void {
    if (line.startsWith('354')) this.isReadingMessage = true;
    this.socket.write(`${line}\r\n`);
  }

  greet(): void {
    this.reply('CONNECT');
  }

  receive(chunk: Buffer): void {
    if (this.isReadingMessage) this.receiveMessage(chunk);
    else this.receiveCommands(chunk);
  }

  private receiveCommands(chunk: Buffer): void {
    this.pending += chunk.toString('utf8');
    for (let end = this.pending.indexOf('\r\n'); end >= 0; end = this.pending.indexOf('\r\n')) {
      const line = this.pending.slice(0, end);
      this.pending = this.pending.slice(end + 2);
      this.command(line);
    }
  }

  /** A client waits for the reply after its message, so a message always ends at the end of a chunk. */
  private receiveMessage(chunk: Buffer): void {
    if (this.message.length === 0) this.reply('CHUNK');
    this.message.push(chunk);
    const tail = Buffer.concat(this.message.slice(-5)).subarray(-5).toString('latin1');
    if (tail !== '\r\n.\r\n') return;
    const bytes = Buffer.concat(this.message).subarray(0, -3);
    this.message = [];
    this.endMessage(bytes);
  }

  private command(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    const step = (verb === 'HELO' ? 'EHLO' : verb) as Step;
    if (!Object.hasOwn(replies, step)) return void this.socket.write(`${this.answerUnknown(line)}\r\n`);
    const isPositive = this.reply(step, line);
    if (step === 'MAIL') [this.from, this.to] = [addressIn(line), []];
    if (step === 'RCPT' && isPositive) this.to.push(addressIn(line));
    if (step === 'DATA') this.isReadingMessage = isPositive;
    if (step === 'QUIT') this.socket.end();
  }

  private endMessage(bytes: Buffer): void {
    this.isReadingMessage = false;
    const raw = bytes.toString('utf8').replace(/^\.\./gm, '.');
    const mail = { from: this.from, to: this.to, raw, bytes };
    // The server's decision counts, whether or not its reply reaches the client.
    if (!/^[45]/.test(this.answer('MESSAGE', 'peek'))) this.accept(mail);
    this.reply('MESSAGE');
  }
}

/** @param host - the address to listen at. */
export async function startSmtp(
  initial: Behaviour = () => undefined,
  host = '127.0.0.1',
): Promise<SmtpUnderTest> {
  let behaviour = initial;
  let answerUnknown = (_line: string): string => '502 5.5.1 unknown command';
  let connections = 0;
  const counts = new Map<Step, number>();
  const accepted: AcceptedMail[] = [];
  const sockets = new Set<Socket>();
  const sessions = new Set<Session>();
  const answer = (step: Step, line: string): string => {
    const isPeek = line === 'peek';
    const count = (counts.get(step) ?? 0) + 1;
    if (!isPeek) counts.set(step, count);
    return behaviour(step, line, count) ?? replies[step];
  };
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    const session = new Session(
      socket,
      answer,
      (mail) => accepted.push(mail),
      (line) => answerUnknown(line),
    );
    sessions.add(session);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      sessions.delete(session);
    });
    socket.on('data', (chunk) => {
      session.receive(chunk);
    });
    session.greet();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    accepted,
    connections: () => connections,
    count: (step) => counts.get(step) ?? 0,
    open: () => sockets.size,
    say: (line) => {
      for (const session of sessions) session.say(line);
    },
    behave: (next) => {
      behaviour = next;
      counts.clear();
    },
    answerUnknown: (next) => {
      answerUnknown = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
