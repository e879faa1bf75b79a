import { Type } from 'typebox';
import { createValidatorCompiler, describeFaults } from './validation.js';

const Options = Type.Object(
  {
    days: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    text: Type.Optional(Type.Union([Type.String({ maxLength: 3 }), Type.Null()])),
  },
  { additionalProperties: false },
);
const schema = Type.Union([Options, Type.Null()]);

function findFaults(body: unknown) {
  const validate = createValidatorCompiler()({ schema, httpPart: 'body', method: 'POST', url: '/' });
  validate(body);
  const faults = (validate as { errors?: Parameters<typeof describeFaults>[0] | null }).errors ?? [];
  return describeFaults(faults, 'body').map(({ field, message }) => `${field} ${message}`);
}

test('a fault of a value that may be null names what is wrong with the value, and nothing else', () => {
  expect(findFaults({ days: 0, text: 'long' })).toEqual([
    'days must be >= 1',
    'text must NOT have more than 3 characters',
  ]);
  expect(findFaults({ days: '1' })).toEqual(['days must be integer or null']);
  expect(findFaults({ other: 1 })).toEqual(['other is not a known field']);
  expect(findFaults([])).toEqual(['body must be object']);
  expect([findFaults(null), findFaults({ days: null, text: null })]).toEqual([[], []]);
});
