// Generates the calls of one service for Python, and the types of what they send and read, from its OpenAPI document.
import { openDocument } from '../clients/open-document.mjs';

const REFERENCE = '#/components/schemas/';
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
// oxfmt-ignore
const KEYWORDS = new Set([
  'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except', 'finally',
  'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try',
  'while', 'with', 'yield', 'None', 'True', 'False',
]);

const toText = (value) => JSON.stringify(value);
const toPascal = (name) =>
  name
    .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_match, letter = '') => letter.toUpperCase())
    .replace(/^./, (letter) => letter.toUpperCase());
const toSnake = (name) => {
  const snake = name
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
  return KEYWORDS.has(snake) ? `${snake}_` : snake;
};
/** Splits a union into its members, and not what is in brackets. */
function splitUnion(type) {
  const members = [''];
  let depth = 0;
  for (const part of type.split(/( \| )/)) {
    if (part === ' | ' && depth === 0) members.push('');
    else members[members.length - 1] += part;
    depth += part.split('[').length - part.split(']').length;
  }
  return members;
}
function toUnion(types) {
  const all = [...new Set(types.flatMap(splitUnion))];
  if (all.includes('Any')) return 'Any';
  // Last, as people write it.
  return [...all.filter((type) => type !== 'None'), ...all.filter((type) => type === 'None')].join(' | ');
}
/** Only texts, numbers and truth values have literals. */
function toLiteral(values) {
  const literals = values
    .filter((value) => value !== null)
    .map((value) => (typeof value === 'boolean' ? toPascal(String(value)) : JSON.stringify(value)));
  return toUnion([
    ...(literals.length > 0 ? [`Literal[${literals.join(', ')}]`] : []),
    ...(values.includes(null) ? ['None'] : []),
  ]);
}
const toComment = (text = '') =>
  text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").replaceAll(/\s+/g, ' ').trim();

const isObject = (schema) =>
  Object.keys(schema.properties ?? {}).length > 0 && !schema.anyOf && !schema.oneOf;

/** Names the kind of an object of a union by the text that tells it from the others. */
function toKind({ properties = {} }) {
  const kind = Object.values(properties).find((property) => typeof property.const === 'string');
  return kind === undefined ? '' : toPascal(kind.const);
}

/** Declares types, each once: a schema without a name is named after where it is first used. */
function createTypes(schemas) {
  const declared = new Map();
  const names = new Map();

  function nameSchema(schema, wanted) {
    const key = JSON.stringify(schema);
    const known = names.get(key);
    if (known) return { name: known, isNew: false };
    let name = toPascal(schema.title ?? wanted);
    for (let number = 2; declared.has(name); number += 1)
      name = `${toPascal(schema.title ?? wanted)}${number}`;
    names.set(key, name);
    declared.set(name, '');
    return { name, isNew: true };
  }

  function declareObject(schema, wanted) {
    const { name, isNew } = nameSchema(schema, wanted);
    if (!isNew) return name;
    const required = new Set(schema.required);
    const fields = Object.entries(schema.properties).map(([key, value]) => {
      const type = toType(value, `${name}${toPascal(key)}`);
      return [key, required.has(key) ? type : `NotRequired[${type}]`, value.description];
    });
    const isPlain = fields.every(([key]) => /^[A-Za-z_]\w*$/.test(key) && !KEYWORDS.has(key));
    declared.set(
      name,
      isPlain
        ? [
            `class ${name}(TypedDict):`,
            ...(schema.description ? [`    """${toComment(schema.description)}"""`, ''] : []),
            ...fields.flatMap(([key, type, description]) => [
              `    ${key}: ${type}`,
              ...(description ? [`    """${toComment(description)}"""`] : []),
            ]),
            ...(fields.length === 0 && !schema.description ? ['    pass'] : []),
          ].join('\n')
        : `${name} = TypedDict(\n    "${name}",\n    {\n${fields.map(([key, type]) => `        ${toText(key)}: ${toText(type)},\n`).join('')}    },\n)`,
    );
    return name;
  }

  function declareReference(name) {
    const schema = schemas[name];
    const python = toPascal(name);
    if (names.get(`#${name}`)) return names.get(`#${name}`);
    if (isObject(schema)) {
      const declaredName = declareObject({ ...schema, title: name }, name);
      names.set(`#${name}`, declaredName);
      return declaredName;
    }
    names.set(`#${name}`, python);
    declared.set(python, '');
    declared.set(python, `${python}: TypeAlias = ${toText(toType(schema, name))}`);
    return python;
  }

  /** @returns {string} the expression of the type */
  function toType(schema, wanted) {
    if (schema.$ref) return declareReference(schema.$ref.slice(REFERENCE.length));
    if ('const' in schema) return toLiteral([schema.const]);
    if (schema.enum) return toUnion([toLiteral(schema.enum), ...(schema['x-open'] ? ['str'] : [])]);
    const parts = schema.anyOf ?? schema.oneOf;
    if (parts) return toUnion(parts.map((part) => toType(part, wanted + toKind(part))));
    if (schema.allOf?.length === 1) return toType(schema.allOf[0], wanted);
    if (isObject(schema)) return declareObject(schema, wanted);
    if (Array.isArray(schema.type))
      return toUnion(schema.type.map((type) => toType({ ...schema, type }, wanted)));
    const simple = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[
      schema.type
    ];
    if (simple) return simple;
    if (schema.type === 'array')
      return `list[${schema.items ? toType(schema.items, `${wanted}Item`) : 'Any'}]`;
    if (schema.type !== 'object') return 'Any';
    const [pattern] = Object.values(schema.patternProperties ?? {});
    const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : pattern;
    return `dict[str, ${values ? toType(values, `${wanted}Value`) : 'Any'}]`;
  }

  return { toType, list: () => [...declared.values()].filter(Boolean) };
}

/** Finds what a list iterates over: `data`, or the only array of its response. */
function findItems(schema, schemas) {
  const resolved = schema?.$ref ? schemas[schema.$ref.slice(REFERENCE.length)] : schema;
  const properties = resolved?.properties ?? {};
  const key = properties.data
    ? 'data'
    : Object.keys(properties).find((name) => properties[name].type === 'array');
  return key !== undefined && properties[key].type === 'array'
    ? { key, items: properties[key].items }
    : undefined;
}

function describeOperation({ path, method, operation }, schemas, types) {
  const { operationId, summary, requestBody, parameters = [], responses } = operation;
  const wanted = toPascal(operationId);
  const inputs = parameters.map((parameter) => ({
    ...parameter,
    python: toSnake(parameter.name),
    type: types.toType(parameter.schema, `${wanted}${toPascal(parameter.name)}`),
    isNeeded: parameter.in === 'path' || parameter.required === true,
  }));
  const body = requestBody?.content['application/json']?.schema;
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => (content ? Object.entries(content) : [[undefined, undefined]]));
  const results = successes.map(([type, content]) => {
    if (type === undefined) return 'None';
    return JSON_TYPE.test(type) ? types.toType(content.schema ?? {}, `${wanted}Result`) : 'str';
  });
  const page = successes.map(([, content]) => content?.schema).find(Boolean);
  const found = operationId.startsWith('list') ? findItems(page, schemas) : undefined;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary: toComment(summary ?? operationId).replace(/[^.]$/, '$&.'),
    inputs,
    bodyType: body && types.toType(body, `${wanted}Body`),
    isBodyNeeded: requestBody?.required === true,
    result: toUnion(results),
    otherTypes: successes
      .map(([type]) => type)
      .filter((type) => type !== undefined && type !== 'application/json'),
    items: found && { key: found.key, type: types.toType(found.items, `${wanted}ResultItem`) },
  };
}

const toDict = (inputs, place) =>
  `{${inputs
    .filter((input) => input.in === place)
    .map(({ name, python }) => `${toText(name)}: ${python}`)
    .join(', ')}}`;

function writeMethods(operation, isAsync) {
  const { id, method, path, inputs, bodyType, isBodyNeeded, result, otherTypes, items, summary } = operation;
  const needed = [
    ...inputs.filter((input) => input.isNeeded).map(({ python, type }) => `${python}: ${type}`),
    ...(bodyType && isBodyNeeded ? [`body: ${bodyType}`] : []),
  ];
  const optional = [
    ...(bodyType && !isBodyNeeded ? [`body: ${toUnion([bodyType, 'None'])} = None`] : []),
    ...inputs
      .filter((input) => !input.isNeeded)
      .map(({ python, type }) => `${python}: ${toUnion([type, 'None'])} = None`),
    'options: CallOptions | None = None',
  ];
  const isPaged = inputs.some((input) => input.in === 'query' && input.name === 'limit');
  const request = [
    `            ${[id, method, path].map(toText).join(', ')},`,
    ...(inputs.some((input) => input.in === 'path') ? [`            path=${toDict(inputs, 'path')},`] : []),
    ...(inputs.some((input) => input.in === 'query')
      ? [`            query=${toDict(inputs, 'query')},`]
      : []),
    ...(inputs.some((input) => input.in === 'header')
      ? [`            headers=${toDict(inputs, 'header')},`]
      : []),
    ...(bodyType ? ['            body=body,'] : []),
    ...(otherTypes.length > 0
      ? [`            other_types=(${otherTypes.map((type) => `${toText(type)},`).join(' ')}),`]
      : []),
  ];
  const docs = inputs.flatMap(({ python, description }) =>
    description ? [`            ${python}: ${toComment(description)}`] : [],
  );
  const docstring =
    docs.length === 0
      ? [`        """${summary}"""`]
      : [`        """${summary}`, '', '        Args:', ...docs, '        """'];
  const parameters = ['self', '*', ...needed, ...optional].map((parameter) => `        ${parameter},`);
  const [keyword, wait] = isAsync ? ['async def', 'await '] : ['def', ''];
  const call = [
    `    ${keyword} ${toSnake(id)}(`,
    ...parameters,
    `    ) -> ${result}:`,
    ...docstring,
    '        request = Request(',
    ...request,
    '        )',
    result === 'None'
      ? `        ${wait}self._calls.call(request, options)`
      : `        return cast(${toText(result)}, ${wait}self._calls.call(request, options))`,
  ];
  if (!items) return call.join('\n');
  const kind = isAsync ? 'AsyncIterator' : 'Iterator';
  const iterate = [
    `    def ${toSnake(id).replace(/^list_/, 'iter_')}(`,
    ...parameters.filter(
      (parameter) =>
        !/^ {8}(?:cursor|page|after):/.test(parameter) ||
        inputs.some(({ name, isNeeded }) => isNeeded && name === parameter.trim().split(':')[0]),
    ),
    `    ) -> ${kind}[${items.type}]:`,
    `        """${summary} Page by page, as it is read."""`,
    '        request = Request(',
    ...request.map((line) =>
      line.startsWith('            query=')
        ? `            query=${toDict(
            inputs.filter(({ name }) => !['cursor', 'page', 'after'].includes(name)),
            'query',
          )},`
        : line,
    ),
    ...(isPaged ? ['            is_paged=True,'] : []),
    '        )',
    `        return self._calls.iterate(request, options)`,
  ];
  return `${call.join('\n')}\n\n${iterate.join('\n')}`;
}

/**
 * @param {string} service
 * @param {object} source its OpenAPI document
 * @returns {string} a module of Python
 */
export function generatePythonService(service, source) {
  const document = openDocument(source);
  const { schemas } = document.components;
  const types = createTypes(schemas);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      describeOperation({ path, method, operation }, schemas, types),
    ),
  );
  const name = toPascal(service);
  const writeClass = (prefix, calls, isAsync) => `class ${prefix}${name}Api:
    """The operations of ${service}."""

    def __init__(self, calls: ${calls}) -> None:
        self._calls = calls

${operations.map((operation) => writeMethods(operation, isAsync)).join('\n\n')}`;
  return `"""The operations of ${service}, and the types of what they send and read. Generated from its OpenAPI document."""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from ._calls import AsyncCalls, Calls, CallOptions, Request

${types.list().join('\n\n\n')}


${writeClass('', 'Calls', false)}


${writeClass('Async', 'AsyncCalls', true)}
`;
}
