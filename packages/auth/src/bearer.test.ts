import type { IncomingMessage } from 'node:http';
import { readBearer } from './bearer.js';

const request = (...values: string[]): IncomingMessage =>
  ({
    headers: { authorization: values[0] },
    rawHeaders: [
      'Host',
      'x',
      ...values.flatMap((value, index) => [index % 2 ? 'AUTHORIZATION' : 'Authorization', value]),
    ],
  }) as unknown as IncomingMessage;

test.each([
  ['Bearer abc.def-_', 'abc.def-_'],
  ['bearer abc', 'abc'],
  ['BEARER   abc', 'abc'],
  ['Bearer abc  ', 'abc'],
])('reads %j', (header, token) => {
  expect(readBearer(request(header))).toBe(token);
});

test.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'Bearera b', 'abc', ''])(
  'finds no bearer in %j',
  (header) => {
    expect(readBearer(request(header))).toBeFalsy();
  },
);

test('reads no token without the header', () => {
  expect(readBearer({ headers: {}, rawHeaders: [] } as unknown as IncomingMessage)).toBeUndefined();
});

test('rejects a repeated header in any case', () => {
  expect(() => readBearer(request('Bearer a', 'Bearer b'))).toThrow('one Authorization header');
});
