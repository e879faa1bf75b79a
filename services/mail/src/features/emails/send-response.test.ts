import { readPreference } from './send-response.js';

test.each([
  [undefined, { isAsync: false, waitMs: undefined }],
  ['respond-async', { isAsync: true, waitMs: undefined }],
  ['Respond-Async; foo="bar" , wait = 10', { isAsync: true, waitMs: 10_000 }],
  [['return=minimal', 'wait="5"'], { isAsync: false, waitMs: 5_000 }],
  ['wait=0', { isAsync: false, waitMs: undefined }],
  ['respond-async, wait=0', { isAsync: true, waitMs: 0 }],
  ['wait=-1, respond-asynchronously', { isAsync: false, waitMs: undefined }],
])('reads the preferences from %j', (header, expected) => {
  expect(readPreference(header)).toEqual(expected);
});
