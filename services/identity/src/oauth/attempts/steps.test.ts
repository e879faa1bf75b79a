import { findStuckStep, type RecordedStep, type Step, toAttempts } from './steps.js';

const START = Date.UTC(2026, 10, 30, 10);
let minute = 0;
const step = (name: Step, clientId: string | null = null, fault: string | null = null): RecordedStep => ({
  step: name,
  at: new Date(START + (minute += 1) * 60_000),
  clientId,
  userAgent: null,
  fault,
  userId: null,
});
const brief = (recorded: readonly RecordedStep[]) =>
  toAttempts(recorded).map((attempt) => [
    attempt.clientId,
    attempt.recorded.map((one) => one.step).join(' '),
    findStuckStep(attempt, false),
  ]);
beforeEach(() => {
  minute = 0;
});

test('steps of one attempt come together, in any form that a client has', () => {
  const claude = 'https://claude.ai/client.json';
  expect(brief([step('challenge'), step('metadata'), step('authorize', claude), step('consent', claude), step('code', claude), step('token', claude)])).toEqual([[claude, 'challenge metadata authorize consent code token', 'call']]);
  expect(brief([step('challenge'), step('metadata'), step('registration', 'x')])).toEqual([['x', 'challenge metadata registration', 'authorize']]);
}); // oxfmt-ignore

test.each<[Step, string | null, Step]>([
  ['challenge', null, 'metadata'],
  ['metadata', null, 'authorize'],
  ['registration', 'x', 'authorize'],
  ['authorize', 'x', 'consent'],
  ['consent', 'x', 'code'],
  ['code', 'x', 'token'],
])('an attempt that ends with %s waits for the next step', (name, clientId, missing) => {
  expect(brief([step(name, clientId)])).toEqual([[clientId, name, missing]]);
});

test('an attempt is stuck at the step that failed, until it is tried again', () => {
  expect(brief([step('authorize', 'x'), step('authorize', 'x', 'invalid_client')])[0]?.[2]).toBe('authorize');
  expect(
    brief([step('authorize', 'x', 'invalid_client'), step('authorize', 'x'), step('consent', 'x')])[0]?.[2],
  ).toBe('code');
});

test('two clients, and a client that begins again, are attempts of their own', () => {
  expect(
    brief([step('authorize', 'x'), step('authorize', 'y'), step('consent', 'x'), step('authorize', 'x')]),
  ).toEqual([
    ['x', 'authorize', 'consent'],
    ['y', 'authorize', 'consent'],
    ['x', 'authorize consent', 'code'],
  ]);
  const late = step('token', 'x');
  minute = 100;
  expect(brief([late, step('token', 'x')])).toHaveLength(2);
});

test('steps of two members are never one attempt', () => {
  const of = (userId: string, name: Step) => ({ ...step(name, 'x'), userId });
  expect(brief([step('authorize', 'x'), of('a', 'consent'), of('b', 'code'), of('a', 'code')])).toEqual([
    ['x', 'code', 'token'],
    ['x', 'authorize consent code', 'token'],
  ]);
});

test('an attempt that has called a tool is not stuck', () => {
  const [attempt] = toAttempts([step('token', 'x')]);
  expect(attempt && findStuckStep(attempt, true)).toBeUndefined();
});
