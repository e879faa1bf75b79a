import { nameSchemas } from './named-schemas.js';

const fault = { title: 'Fault', type: 'object', properties: { title: { type: 'string' } } };
const item = (count: number) => ({ title: 'Item', type: 'integer', maximum: count });
const listed = { title: 'List', type: 'object', properties: { faults: { type: 'array', items: fault } } };
const components = { securitySchemes: { bearer: { type: 'http' } } };

it('a schema with a title stands once, within others too; those that differ stay in their places', () => {
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
