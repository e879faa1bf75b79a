import { classifyFailure } from './outcome.js';

const smtp = (fields: object) => Object.assign(new Error('the words of the server'), fields);

test.each([
  ['a refused connection', { code: 'ESOCKET', originalCode: 'ECONNREFUSED' }, false, 'failed', true],
  ['a connection lost before the message', { code: 'ECONNECTION' }, false, 'failed', true],
  ['a connection lost during or after it', { code: 'ECONNECTION' }, true, 'unknown', false],
  ['a timeout before the message', { code: 'ETIMEDOUT' }, false, 'failed', false],
  ['a timeout after it', { code: 'ETIMEDOUT' }, true, 'unknown', false],
  ['a bad certificate', { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }, false, 'failed', false],
  ['a refused login', { code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }, false, 'failed', false],
  [
    'a temporarily refused login',
    { code: 'EAUTH', responseCode: 454, command: 'AUTH PLAIN' },
    false,
    'failed',
    true,
  ],
  [
    'a refused recipient',
    { code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' },
    false,
    'failed',
    false,
  ],
  ['a refused message', { code: 'EMESSAGE', responseCode: 554, command: 'DATA' }, true, 'failed', false],
  [
    'a temporarily refused message',
    { code: 'EMESSAGE', responseCode: 451, command: 'DATA' },
    true,
    'failed',
    true,
  ],
  [
    'an announced shutdown instead of a reply',
    { code: 'ECONNECTION', responseCode: 421, command: 'CONN' },
    true,
    'unknown',
    false,
  ],
  ['garbage instead of a reply', { code: 'EMESSAGE', command: 'DATA' }, true, 'unknown', false],
  ['the deadline', { code: 'EABORT' }, true, 'unknown', false],
])('classifies %s', (_name, fields, isMessageRead, state, canRetry) => {
  const verdict = classifyFailure(smtp(fields), isMessageRead);
  expect([verdict.outcome.state, verdict.canRetry]).toEqual([state, canRetry]);
  expect(JSON.stringify(verdict)).not.toContain('the words of the server');
});
