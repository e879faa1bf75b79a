import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The number of responses on the connection. */
  readonly count: number;
}

/** Sends raw bytes, and reads the responses until the server closes the connection. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    socket.setEncoding('utf8').setTimeout(10_000, () => {
      socket.destroy(new Error(`no end of the answer after ${JSON.stringify(received.slice(0, 200))}`));
    });
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => {
      resolve(parseAnswers(received));
    });
  });
}

function parseAnswers(received: string): RawAnswer {
  const [head = '', body = ''] = received.split(/\r\n\r\n(.*)/s);
  const [statusLine = '', ...lines] = head.split('\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? 0),
    headers: new Headers(
      lines.map((line) => {
        const [name = '', value = ''] = line.split(/: (.*)/s);
        return [name, value] satisfies [string, string];
      }),
    ),
    body,
    count: received.match(/HTTP\/1\.1 \d{3} /g)?.length ?? 0,
  };
}
