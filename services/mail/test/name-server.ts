import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';

const QUESTION_START = 12;
const NAME_DOES_NOT_EXIST = 0x8583;
const ANSWER = 0x8580;
const TYPE_A = 1;
const TYPE_AAAA = 28;

function readName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = QUESTION_START; query[at]; at += 1 + (query[at] ?? 0))
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join('.').toLowerCase();
}

const toBytes = (address: string): Buffer =>
  isIPv4(address)
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(address.split(':').map((group) => group.padStart(4, '0')).join(''), 'hex'); // oxfmt-ignore

function toRecord(address: string): Buffer {
  const data = toBytes(address);
  const head = Buffer.alloc(12);
  // A pointer to the name in the question (RFC 1035 §4.1.4).
  head.writeUInt16BE(0xc000 | QUESTION_START, 0);
  head.writeUInt16BE(data.length === 4 ? TYPE_A : TYPE_AAAA, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** Starts a real name server (RFC 1035, over UDP). It never answers questions about a name whose zone entry is `silent`. */
export async function startNameServer(zone: Readonly<Record<string, readonly string[] | 'silent'>>) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, client) => {
    const name = readName(query);
    asked.push(name);
    const addresses = zone[name];
    if (addresses === 'silent') return;
    const questionEnd = QUESTION_START + name.length + 2 + 4;
    const isIpv4Wanted = query.readUInt16BE(questionEnd - 4) === TYPE_A;
    const records = (addresses ?? []).filter((address) => isIPv4(address) === isIpv4Wanted).map(toRecord);
    const response = Buffer.concat([query.subarray(0, questionEnd), ...records]);
    response.writeUInt16BE(addresses ? ANSWER : NAME_DOES_NOT_EXIST, 2);
    response.writeUInt16BE(records.length, 6);
    response.writeUInt32BE(0, 8);
    socket.send(response, client.port, client.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** The names in all questions so far, in order. */
    asked,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
