import { Type } from 'typebox';
import { publishDocument } from './publish.js';

const schedule = {
  title: 'Schedule',
  type: 'object',
  required: ['at', 'zone'],
  properties: { at: { type: 'string' }, zone: { type: 'string', default: 'UTC' } },
};
const plain = {
  title: 'Plain',
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' } },
};
const content = (schema: object) => ({ 'application/json': { schema } });
const ok = (schema: object) => ({ 200: { description: 'Default Response', content: content(schema) } });
const ErrorSchema = Type.Object({ message: Type.String() }, { title: 'Error' });

function publish(paths: object, audience: 'everyone' | 'services' = 'everyone') {
  return publishDocument({ paths }, ErrorSchema, audience) as unknown as {
    // oxlint-disable-next-line typescript/no-explicit-any -- tests examine any part of the document
    readonly paths: any;
    readonly components: { readonly schemas: Record<string, object> };
  };
}
const post = (schema: object, more: object = {}) => ({
  '/a': {
    post: { requestBody: { required: true, content: content(schema) }, responses: ok(schema), ...more },
  },
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

it('makes properties with a default optional in requests and required in responses', () => {
  const { paths, components } = publish(post({ type: 'array', items: schedule }));
  const { requestBody, responses } = paths['/a'].post;
  expect(requestBody.content['application/json'].schema.items).toEqual(ref('ScheduleInput'));
  expect(responses[200].content['application/json'].schema.items).toEqual(ref('Schedule'));
  expect(components.schemas).toMatchObject({
    Schedule: { required: ['at', 'zone'] },
    ScheduleInput: { required: ['at'], title: 'ScheduleInput' },
  });
});

it('gives one name to a schema that is the same in requests and responses', () => {
  const { paths, components } = publish(post(plain));
  expect(paths['/a'].post.requestBody.content['application/json'].schema).toEqual(ref('Plain'));
  expect(Object.keys(components.schemas)).not.toContain('PlainInput');
});

it('makes a parameter with a default optional', () => {
  const parameter = (name: string, schema: object) => ({ name, in: 'query', required: true, schema });
  const parameters = [
    parameter('page', { type: 'integer', default: 1 }),
    parameter('after', { type: 'string' }),
  ];
  const { paths } = publish({ '/a': { get: { parameters, responses: ok(plain) } } });
  expect(paths['/a'].get.parameters.map(({ required }: { required: boolean }) => required)).toEqual([
    false,
    true,
  ]);
});

it('makes a body that may be null optional', () => {
  const { requestBody } = publish(post({ anyOf: [plain, { type: 'null' }] })).paths['/a'].post;
  expect(requestBody).toEqual({ required: false, content: content(ref('Plain')) });
  expect(publish(post(plain)).paths['/a'].post.requestBody.required).toBe(true);
});

it('adds the type to an enum, and splits an enum of several types', () => {
  const properties = {
    days: { enum: [30, 'never', 365], description: 'Days.' },
    tls: { enum: ['auto', 'none'], default: 'auto' },
  };
  const { schema } = publish(post({ type: 'object', properties })).paths['/a'].post.requestBody.content[
    'application/json'
  ];
  expect(schema.properties).toEqual({
    days: {
      description: 'Days.',
      anyOf: [
        { type: 'integer', enum: [30, 365] },
        { type: 'string', enum: ['never'] },
      ],
    },
    tls: { ...properties.tls, type: 'string' },
  });
});

it('removes patterns with Unicode properties, and keeps the others', () => {
  const text = (pattern: string) => ({ type: 'string', pattern });
  const properties = { a: text('^\\p{L}+$'), b: text('[^\\P{Cc}]'), pattern: text('^[a-z]$') };
  const { schema } = publish(post({ type: 'object', properties })).paths['/a'].post.requestBody.content[
    'application/json'
  ];
  expect(schema.properties).toEqual({
    a: { type: 'string' },
    b: { type: 'string' },
    pattern: properties.pattern,
  });
});

it('adds the errors of bodies to every operation that may have one, and keeps its own responses', () => {
  const own = { 413: { description: 'Own' } };
  const { paths, components } = publish({
    '/a': { delete: { responses: { ...ok(plain), ...own } }, get: { responses: ok(plain) } },
  });
  expect(Object.keys(paths['/a'].delete.responses)).toEqual(['200', '400', '408', '413', '415']);
  expect(paths['/a'].delete.responses).toMatchObject({
    ...own,
    200: { description: 'OK' },
    415: { description: 'Unsupported Media Type', content: content(ref('Error')) },
  });
  expect(Object.keys(paths['/a'].get.responses)).toEqual(['200']);
  expect(components.schemas).toHaveProperty('Error');
});

it('marks a public operation as public', () => {
  const security = [{ bearer: [] }];
  expect(publish(post(plain)).paths['/a'].post.security).toEqual([]);
  expect(publish(post(plain, { security })).paths['/a'].post.security).toEqual(security);
});

it('lists the operations of services only in their own document, with their schemas', () => {
  const paths = { ...post(plain), '/b': { get: { tags: ['Services'], responses: ok(schedule) } } };
  const open = publish(paths);
  expect([Object.keys(open.paths), Object.keys(open.components.schemas)]).toEqual([
    ['/a'],
    ['Plain', 'Error'],
  ]);
  expect(Object.keys(publish(paths, 'services').paths)).toEqual(['/b']);
});

it('publishes the formats of the platform as patterns', () => {
  const { requestBody } = publish(post({ type: 'string', format: 'email' })).paths['/a'].post;
  expect(requestBody.content['application/json'].schema).toEqual({
    type: 'string',
    format: 'idn-email',
    pattern: expect.stringContaining('@'),
  });
});

it('allows no NUL in a parameter', () => {
  const toParameter = (schema: object) => ({ name: 'q', in: 'query', schema: { type: 'string', ...schema } });
  const parameters = [{}, { pattern: '^a$' }, { format: 'uuid' }].map(toParameter);
  const { paths } = publish({ '/a': { get: { parameters, responses: ok(plain) } } });
  expect(paths['/a'].get.parameters.map(({ schema }: { schema: object }) => schema)).toEqual([
    { type: 'string', pattern: String.raw`^[^\u0000]*$` },
    { type: 'string', pattern: '^a$' },
    { type: 'string', format: 'uuid' },
  ]);
});

it('publishes the rules that the service checks by itself', () => {
  const schema = { type: 'string', 'x-documented': { enum: ['a', 'b'] } };
  const { paths } = publish(post(schema));
  expect(paths['/a'].post.requestBody.content['application/json'].schema).toEqual({
    type: 'string',
    enum: ['a', 'b'],
  });
});
