import { type ConnectionAttempt, describeAttempt, nameAttempt } from './describe-attempt.ts';

const attempt = (fields: Partial<ConnectionAttempt>): ConnectionAttempt => ({
  client: null,
  name: null,
  userAgent: null,
  userId: null,
  email: null,
  startedAt: '',
  lastAt: '',
  steps: [],
  fault: null,
  stuckAt: 'consent',
  ...fields,
});

test.each([
  [{ name: 'Desk agent', client: '0192' }, 'Desk agent'],
  [{ client: 'claude.ai', userAgent: 'Mozilla/5.0' }, 'claude.ai'],
  [{ client: '0192', userAgent: 'claude-code/2.1' }, 'Claude Code'],
  [{ client: '0192', userAgent: 'Mozilla/5.0' }, 'a client'],
])('nameAttempt names %j as %s', (fields, name) => {
  expect(nameAttempt(attempt(fields))).toBe(name);
});

test.each<[Partial<ConnectionAttempt>, boolean, string | undefined, RegExp]>([
  [{ stuckAt: null }, true, undefined, /^$/],
  [{ stuckAt: 'authorize' }, true, 'client', /Start the sign-in/],
  [{ stuckAt: 'authorize' }, false, 'client', /registration is turned off/],
  [{ stuckAt: 'code' }, true, 'you', /press “Allow”/],
  [{ stuckAt: 'call' }, true, 'you', /who am I/],
  [{ stuckAt: 'authorize', fault: 'invalid_client' }, true, 'administrator', /does not know this client/],
  [{ stuckAt: 'registration', fault: 'invalid_redirect_uri' }, true, 'client', /own machine/],
  [{ stuckAt: 'token', fault: 'something_new' }, true, 'client', /something_new/],
])('describeAttempt says whose turn it is in %j', (fields, canRegister, who, advice) => {
  const described = describeAttempt(attempt(fields), canRegister);
  expect(described?.who).toBe(who);
  expect(described?.advice ?? '').toMatch(advice);
});
