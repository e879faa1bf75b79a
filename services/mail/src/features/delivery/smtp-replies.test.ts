import {
  isGone,
  isGoneIfReported,
  isPermanentReply,
  isTooManyRecipients,
  readReply,
} from './smtp-replies.js';

test.each([
  ['550 5.1.1 no such user', '5.1.1'],
  ['550 5.1.1: no such user', '5.1.1'],
  ['550 #5.1.1 no such user', '5.1.1'],
  ['550 [5.1.1] no such user', '5.1.1'],
  ['550 <5.1.1> no such user', '5.1.1'],
  ['550 5.1.1, no such user', '5.1.1'],
  ['550 5.1.1', '5.1.1'],
  ['550 sorry, no mailbox here by that name (#5.1.1)', '5.1.1'],
  ['550 no such user [5.1.1]', '5.1.1'],
  ['550-no such user\n550 5.1.1 see our page', '5.1.1'],
  ['550-5.1.1 no such user\n550 5.1.1 see our page', '5.1.1'],
  ['550 5.4.310 DNS domain does not exist', '5.4.310'],
  // The harmless one of several.
  ['550-5.1.1 no such user\n550 5.7.1 or not for you', '5.7.1'],
  ['550-5.1.1 no such user\n550 4.2.1 for now', '4.2.1'],
  ['450 5.1.1 no such user', undefined],
  ['450 4.2.0 later', '4.2.0'],
  // Versions and addresses.
  ['550 refused by Filter 5.1.1', undefined],
  ['550 blocked: [5.1.1.20]', undefined],
  ['550 5.1.1.20 is blocked', undefined],
  ['550 15.1.1 is no status', undefined],
  ['550 2001.5.1.1', undefined],
  ['550', undefined],
])('the enhanced status of %j is %s', (text, status) => {
  expect(readReply(text).status).toBe(status);
});

test.each([
  ['550 no', true, false],
  ['550 5.7.1 no', true, false],
  ['550 4.7.1 no', false, false],
  ['451 5.7.1 no', false, false],
  ['552 full', false, true],
  ['552 5.2.2 full', false, false],
  ['552 5.3.4 too large', true, false],
  ['552 Message size exceeds maximum permitted', true, false],
  ['552 Message size exceeds the quota of the mailbox', false, true],
  ['552 sorry, that message size exceeds my databytes limit (#5.3.4)', true, false],
  ['552 5.5.3 too many', false, true],
  ['550 5.5.3 too many', false, true],
  ['452 too many', false, true],
  ['452 4.5.3 too many', false, true],
  ['452 4.2.2 full', false, false],
  ['530 5.7.0 authenticate first', false, false],
  ['530 authenticate first', false, false],
])('%j is permanent: %s, and allows a further transaction: %s', (text, isPermanent, isTooMany) => {
  const codes = readReply(text);
  expect([isPermanentReply(codes), isTooManyRecipients(codes)]).toEqual([isPermanent, isTooMany]);
});

test('what suppresses an address after a reply does so after a report', () => {
  for (const status of ['5.1.1', '5.1.2', '5.1.10', '5.2.1'])
    expect([isGone(status), isGoneIfReported(status)]).toEqual([true, true]);
  for (const status of ['5.0.0', '5.1.0', '5.1.6', '5.4.1', '5.4.310'])
    expect([isGone(status), isGoneIfReported(status)]).toEqual([false, true]);
  for (const status of ['5.2.2', '5.7.1', '5.5.3', '4.1.1', '5.3.4', 'toString'])
    expect([isGone(status), isGoneIfReported(status)]).toEqual([false, false]);
});
