import { Problem } from '../api/problem.ts';
import { describeFault, describeFaultAtField, findFaults, getFieldName } from './describe-fault.ts';

test.each([
  ['allowList.1', 'must be a CIDR range', '10.0.0.0/8\n10.0.0.0/33', '“10.0.0.0/33” must be a CIDR range.'],
  ['name', 'must NOT have more than 100 characters', 'x', 'Must not have more than 100 characters.'],
  ['body.email', 'must match format "email"', 'x', 'Must be an e-mail address, such as ada@example.com.'],
  [
    'rules.1',
    'has an unknown scope',
    '*_read kb:read\n*_write kb:wirte',
    '“*_write kb:wirte” has an unknown scope.',
  ],
  ['scopes', 'must NOT have fewer than 1 items', '', 'Must not be empty.'],
])('says at the field what is wrong with %s', (field, message, typed, words) => {
  expect(describeFaultAtField({ field, message }, typed)).toBe(words);
});

test('names the field of a conflict, and of a part of an object', () => {
  expect(findFaults(new Problem(409, 'EMAIL_TAKEN', 'It is taken'))).toEqual([
    { field: 'email', message: 'It is taken' },
  ]);
  expect(getFieldName({ field: 'credential.value', message: '' })).toBe('value');
});

test('names the field where the fault stands elsewhere', () => {
  expect(describeFault({ field: 'allowList.0', message: 'must be a CIDR range' })).toBe(
    'Allow list must be a CIDR range.',
  );
});
