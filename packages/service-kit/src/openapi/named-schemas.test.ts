import { nameSchemas } from './named-schemas.js';

const fault = { title: 'Fault', type: 'object', properties: { title: { type: 'string' } } };
const item = (count: number) => ({ title: 'Item', type: 'integer', maximum: count });
const listed = { title: 'List', type: 'object', properties: { faults: { type: 'array', items: fault } } };
const components = { securitySchemes: { bearer: { type: 'http' } } };

it('moves a schema with a title to the components once, and leaves different ones with that title in place', () => {
  const paths = { '/a': { get: [fault, item(1), listed] }, '/b': { get: [fault, item(2)] } };
  const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const list = { ...listed, properties: { faults: { type: 'array', items: refTo('Fault') } } };
  expect(nameSchemas({ info: { title: 'x', type: 'y' }, paths, components })).toEqual({
    info: { title: 'x', type: 'y' },
    paths: {
      '/a': { get: [refTo('Fault'), item(1), refTo('List')] },
      '/b': { get: [refTo('Fault'), item(2)] },
    },
    components: { ...components, schemas: { Fault: fault, List: list } },
  });
});

it('keeps the existing components and their names', () => {
  const other = { type: 'object', title: 'Other' };
  const present = { Fault: fault, Item: item(3), Kept: other };
  const { paths, components: named } = nameSchemas({
    paths: { '/a': { get: [fault, item(1), listed] } },
    components: { ...components, schemas: present },
  });
  const ref = { $ref: '#/components/schemas/Fault' };
  const list = { ...listed, properties: { faults: { type: 'array', items: ref } } };
  expect(named).toEqual({ ...components, schemas: { ...present, List: list } });
  expect(paths).toEqual({ '/a': { get: [ref, item(1), { $ref: '#/components/schemas/List' }] } });
});

it('distinguishes data that looks like a schema from a property named like a keyword', () => {
  const looksLike = { title: 'Wiki', type: 'page' };
  const data = { type: 'object', example: looksLike, examples: [looksLike], default: looksLike };
  const properties = { example: fault, properties: fault, choice: { enum: [looksLike], const: looksLike } };
  const ref = { $ref: '#/components/schemas/Fault' };
  expect(
    nameSchemas({
      paths: { '/a': { get: { responses: { default: fault, 200: { ...data, properties } } } } },
    }),
  ).toEqual({
    paths: {
      '/a': {
        get: {
          responses: {
            default: ref,
            200: { ...data, properties: { ...properties, example: ref, properties: ref } },
          },
        },
      },
    },
    components: { schemas: { Fault: fault } },
  });
});
