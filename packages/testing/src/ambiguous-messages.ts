import { once } from 'node:events';
import { connect } from 'node:net';
import { waitFor } from './wait-for.js';

/*
 * Messages about whose end two parsers of HTTP/1.1 could disagree (RFC 9112 §6 and §11.2). What one of them takes for the
 * body of the first request, the other takes for a second request, which nobody has judged.
 */

/** Where the request goes whose boundaries are ambiguous. */
const FIRST_TARGET = '/mcp/first';
/** Where the request goes that is hidden in it. No service may ever be asked for this. */
const SMUGGLED_TARGET = '/mcp/smuggled';
/** Where the request goes that is sent when the first one has been answered and the connection is still open. */
const LAST_TARGET = '/mcp/last';

const smuggled = `GET ${SMUGGLED_TARGET} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const inChunks = `${chunk(smuggled)}0\r\n\r\n`;
const thenSmuggled = `0\r\n\r\n${smuggled}`;

/** A request with these headers and this body. */
const post = (
  headers: readonly string[],
  body: string,
  { method = 'POST', version = '1.1', end = '\r\n' } = {},
) => [`${method} ${FIRST_TARGET} HTTP/${version}`, 'Host: a', ...headers, '', body].join(end);
const length = (body: string) => `Content-Length: ${body.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';

const lengthThenChunked = (lengthText: string) => post([`Content-Length: ${lengthText}`], smuggled);
const encoding = (header: string) => post([header, length(inChunks)], inChunks);
const chunks = (body: string) => post([CHUNKED], body);

/** Each message by what is ambiguous about it. */
export const ambiguousMessages: Readonly<Record<string, string>> = {
  'a length before chunks': post([length(thenSmuggled), CHUNKED], thenSmuggled),
  'chunks before a length': post([CHUNKED, length(thenSmuggled)], thenSmuggled),
  'a length of the body alone, and chunks': post(['Content-Length: 5', CHUNKED], thenSmuggled),
  'two lengths, the first of nothing': post(['Content-Length: 0', length(smuggled)], smuggled),
  'two lengths, the last of nothing': post([length(smuggled), 'Content-Length: 0'], smuggled),
  'the same length twice': post([length(smuggled), length(smuggled)], smuggled),
  'a list of lengths': lengthThenChunked(`0, ${smuggled.length}`),
  'a list of the same length': lengthThenChunked(`${smuggled.length}, ${smuggled.length}`),
  'a length with a sign': lengthThenChunked(`+${smuggled.length}`),
  'a negative length': lengthThenChunked('-1'),
  'a hexadecimal length': lengthThenChunked(`0x${smuggled.length.toString(16)}`),
  'a length with a fraction': lengthThenChunked('0.5'),
  'a length with a space in it': lengthThenChunked('0 1'),
  'a length of letters': lengthThenChunked('all'),
  'an empty length': lengthThenChunked(''),
  'a length beyond 64 bits': lengthThenChunked('18446744073709551616'),
  'a length after a vertical tab': lengthThenChunked(`\u000b${smuggled.length}`),
  'an encoding that nobody knows': encoding('Transfer-Encoding: xchunked'),
  'an encoding after chunks': encoding('Transfer-Encoding: chunked, identity'),
  'chunks twice': post([CHUNKED, CHUNKED], thenSmuggled),
  'the identity encoding': encoding('Transfer-Encoding: identity'),
  'chunks in quotation marks': encoding('Transfer-Encoding: "chunked"'),
  'a vertical tab before chunks': encoding('Transfer-Encoding: \u000bchunked'),
  'a space before the colon of the encoding': encoding('Transfer-Encoding : chunked'),
  'a space before the colon of the length': post([`Content-Length : ${smuggled.length}`], smuggled),
  'a space before the name of the encoding': encoding(' Transfer-Encoding: chunked'),
  'a folded encoding': encoding('Transfer-Encoding:\r\n chunked'),
  'an encoding folded into another header': encoding('X-Note: a\r\n Transfer-Encoding: chunked'),
  'a folded length': post(['X-Note: a', ` ${length(smuggled)}`], smuggled),
  'an encoding behind a bare CR': encoding('X-Note: a\rTransfer-Encoding: chunked'),
  'an encoding behind a bare LF': encoding('X-Note: a\nTransfer-Encoding: chunked'),
  'an encoding behind a NUL': encoding('X-Note: a\0Transfer-Encoding: chunked'),
  'a name with an underscore': post([`Content_Length: 0`, length(smuggled)], smuggled),
  'bare LF at the ends of lines': post([length(smuggled)], smuggled, { end: '\n' }),
  'headers that end by a bare LF': `POST ${FIRST_TARGET} HTTP/1.1\r\nHost: a\r\n${length(smuggled)}\n\n${smuggled}`,
  'a chunk with an extension': chunks(`${smuggled.length.toString(16)};a=b\r\n${smuggled}\r\n0\r\n\r\n`),
  'a chunk whose extension ends by a bare LF': chunks(`5;a\nabcde\r\n0\r\n\r\n`),
  'a chunk whose extension has a bare CR': chunks(`5;a\rb\r\nabcde\r\n0\r\n\r\n`),
  'a chunk whose size ends by a bare LF': chunks(`${smuggled.length.toString(16)}\n${smuggled}\r\n0\r\n\r\n`),
  'a chunk that ends by a bare LF': chunks(`5\r\nabcde\n0\r\n\r\n`),
  'a chunk that is longer than its size': chunks(`2\r\nabcde\r\n${thenSmuggled}`),
  'a chunk with a hexadecimal prefix': chunks(`0x5\r\nabcde\r\n0\r\n\r\n`),
  'a chunk with a sign': chunks(`+5\r\nabcde\r\n0\r\n\r\n`),
  'a negative chunk': chunks(`-1\r\nabcde\r\n0\r\n\r\n`),
  'a chunk of more than 64 bits': chunks(`10000000000000005\r\nabcde\r\n0\r\n\r\n`),
  'a last chunk that ends by a bare LF': chunks(`0\n\n${smuggled}`),
  'trailers that set a length': chunks(`5\r\nabcde\r\n0\r\n${length(smuggled)}\r\n\r\n`),
  'chunks in HTTP/1.0': post([CHUNKED], thenSmuggled, { version: '1.0' }),
  'a body of GET': post([length(smuggled)], smuggled, { method: 'GET' }),
  'chunks of GET': post([CHUNKED], inChunks, { method: 'GET' }),
  'a body of HEAD': post([length(smuggled)], smuggled, { method: 'HEAD' }),
  'a body of DELETE': post([length(smuggled)], smuggled, { method: 'DELETE' }),
  'a length that the connection names': post(['Connection: content-length', length(smuggled)], smuggled),
  'chunks that the connection names': post(['Connection: transfer-encoding', CHUNKED], inChunks),
  'a body that asks for another protocol': post(
    [
      'Connection: upgrade, http2-settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      length(smuggled),
    ],
    smuggled,
  ),
  'a body behind an expectation': post(['Expect: 100-continue', length(smuggled)], smuggled),
  'a target with a bare CR': `POST ${FIRST_TARGET}\rx HTTP/1.1\r\nHost: a\r\n${length(smuggled)}\r\n\r\n${smuggled}`,
  'two requests in one line': `GET ${FIRST_TARGET} HTTP/1.1 GET ${SMUGGLED_TARGET} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'another version': post([length(smuggled)], smuggled, { version: '1.2' }),
  'two hosts': post(['Host: b', length(smuggled)], smuggled),
};

const countAnswers = (received: string): number => received.match(/HTTP\/1\.[01] [2-5]\d\d /g)?.length ?? 0;

/**
 * Sends a message as it is, and another request when that was answered and the connection is still open.
 *
 * @param targets - returns what a service has been asked for.
 * @returns what is wrong with the outcome: the message has to be one request, or refused as a whole.
 */
export async function findMisreading(
  port: number,
  message: string,
  targets: () => readonly string[],
): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  socket.on('data', (text: string) => (received += text));
  // What is refused can be cut off while it is still sent.
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(message, 'latin1');
  await waitFor(() => socket.closed || countAnswers(received) > 0, { what: 'an answer', intervalMs: 2 });
  if (!socket.closed) socket.write(`GET ${LAST_TARGET} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await closed;
  const answers = countAnswers(received);
  const asked = targets().join(' ');
  const isRefused = answers <= 1 && !received.includes(' 200 ') && asked === '';
  const isOne = answers === 2 && asked === `${FIRST_TARGET} ${LAST_TARGET}`;
  return isRefused || isOne ? undefined : `${answers} answers, for ${asked || 'nothing'}: ${received}`;
}
