import { describeKnownFault } from './known-faults.js';

const fault = (message: string, fields: object) => Object.assign(new Error(message), fields);

test.each([
  [
    fault('connect ECONNREFUSED 127.0.0.1:1', { code: 'ECONNREFUSED', syscall: 'connect' }),
    "The database can't be reached (ECONNREFUSED). Check DATABASE_URL, and that the server runs.",
  ],
  [
    fault('timeout expired', {}),
    "The database can't be reached (timeout expired). Check DATABASE_URL, and that the server runs.",
  ],
  [
    fault('password authentication failed', { code: '28P01' }),
    "The database can't be used (password authentication failed). Check DATABASE_URL.",
  ],
  [new TypeError('a fault of ours'), undefined],
])('describes %s as %s', (error, line) => {
  expect(describeKnownFault(error)).toBe(line);
});
