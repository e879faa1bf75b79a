/*
 * SEP-2243: a property of a tool's input schema can be sent as a header too, named by `x-mcp-header`. A client leaves out
 * a tool with an invalid declaration: it is not a token, is not unique, or stands anywhere but at a
 * primitive property which is reached through `properties` alone.
 */

const KEY = 'x-mcp-header';
const tokenForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const primitives: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/** Their values are data, in which the key means nothing. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

export function hasInvalidHeaders(inputSchema: unknown): boolean {
  const names = new Set<string>();
  function isInvalid(node: Node, place: 'root' | 'property' | 'elsewhere'): boolean {
    if (KEY in node) {
      const { [KEY]: declared, type } = node;
      if (place !== 'property' || typeof declared !== 'string' || !tokenForm.test(declared)) return true;
      if (!primitives.has(type) || names.has(declared.toLowerCase())) return true;
      names.add(declared.toLowerCase());
    }
    return Object.entries(node).some(([keyword, value]) => {
      if (!isNode(value) || dataKeywords.has(keyword)) return false;
      if (keyword !== 'properties') return isInvalid(value, 'elsewhere');
      const child = place === 'elsewhere' ? place : 'property';
      return Object.values(value).some((property) => isNode(property) && isInvalid(property, child));
    });
  }
  return isNode(inputSchema) && isInvalid(inputSchema, 'root');
}
