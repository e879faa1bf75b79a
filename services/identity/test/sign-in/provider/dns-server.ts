import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A name server on loopback that knows TXT records (RFC 1035). */
export interface DnsServer {
  readonly address: string;
  readonly records: Map<string, string[]>;
  /** Names for which it has no answer (SERVFAIL). */
  readonly failing: Set<string>;
  close(): Promise<void>;
}

const HEADER_BYTES = 12;

/** Reads the name that a question asks for, and where the question ends. */
function readQuestion(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function toAnswer(value: string): Buffer {
  // Long records consist of several strings.
  const parts = value.match(/.{1,20}/g) ?? [];
  const data = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
  // A pointer to the name of the question, type TXT, class IN, a TTL of 0.
  const head = Buffer.from([
    0xc0,
    HEADER_BYTES,
    0,
    16,
    0,
    1,
    0,
    0,
    0,
    0,
    data.length >> 8,
    data.length & 255,
  ]);
  return Buffer.concat([head, data]);
}

export async function startDnsServer(): Promise<DnsServer> {
  const records = new Map<string, string[]>();
  const failing = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readQuestion(query);
    const values = records.get(name);
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header[2] = 0x81;
    // 2: SERVFAIL, 3: NXDOMAIN
    header[3] = 0x80 | (failing.has(name) ? 2 : values ? 0 : 3);
    header.writeUInt16BE(values?.length ?? 0, 6);
    header.fill(0, 8);
    socket.send(
      Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...(values ?? []).map(toAnswer)]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    failing,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
