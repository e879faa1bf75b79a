import { findExcess, parseJson, readJsonMembers } from '@platform/service-kit';
import { type Definition, type ObjectSchema, type PinnedDefinition, pinDefinition } from './definition.js';
import { isRelayedKey } from './relayed-meta.js';
import { toNameSuffix } from '../../base/mounted-name.js';
import { hasInvalidHeaders } from './upstream/header-declarations.js';

/*
 * Reads the tools that a server lists. The list is somebody else's: null in an optional member is absence, as is an optional
 * member of another type, and a tool that can't be used is left out with the reason, so that the others work. Whatever is
 * read here must pass the strict checks of clients, which refuse a list as a whole: it stands among the tools of other servers.
 */

const MAX_TOOLS = 200;
const MAX_DEFINITION_BYTES = 256 * 1_024;
/** The largest number of tools that are shown as left out, and the longest of their names. */
const MAX_LEFT_OUT = 50;
const MAX_SHOWN_NAME = 128;
/** The names that MCP allows (server/tools, Tool Names). */
const nameForm = /^[\w./-]{1,128}$/;

/** Why a tool is left out. */
export const leftOutReasons = [
  /** The name is missing, or is not one that MCP allows. */
  'invalid_name',
  /** Another tool before it has the name, or would have the same mounted name. */
  'duplicate_name',
  /** Its input schema is not that of an object. */
  'invalid_input_schema',
  /** A header that it declares for a parameter is invalid (SEP-2243). */
  'invalid_header',
  /** It nests too deep, or there are too many tools, or they are too large together. */
  'too_large',
] as const;
export type LeftOutReason = (typeof leftOutReasons)[number];

export interface LeftOutTool {
  /** The beginning of its name; null when it has none. */
  readonly name: string | null;
  readonly reason: LeftOutReason;
}

export interface OfferedTools {
  readonly definitions: readonly PinnedDefinition[];
  /** The first of those that can't be used. */
  readonly leftOut: readonly LeftOutTool[];
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const toFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** Returns the object without members that are undefined; undefined when none is left. */
function toPresent<T extends object>(members: T): T | undefined {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return present.length > 0 ? (Object.fromEntries(present) as T) : undefined;
}

/** Clients of earlier revisions expect an object as the schema of a property, not true or false. */
function toPropertySchema(schema: unknown): Json | undefined {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} };
  return isObject(schema) ? schema : undefined;
}

/** Reads the schema of an object. @returns undefined for any other schema. */
function readSchema(schema: Json): ObjectSchema | undefined {
  const {
    type = 'object',
    properties,
    ...keywords
  } = Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== null));
  if (type !== 'object') return undefined;
  if ('required' in keywords && !isTextList(keywords['required'])) return undefined;
  if (properties === undefined) return { type, ...keywords };
  if (!isObject(properties)) return undefined;
  const read = Object.entries(properties).map(([name, own]) => [name, toPropertySchema(own)] as const);
  if (read.some(([, own]) => own === undefined)) return undefined;
  return { type, properties: Object.fromEntries(read), ...keywords };
}

function readAnnotations(annotations: Json): Definition['annotations'] {
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return toPresent({
    title: toText(title),
    readOnlyHint: toFlag(readOnlyHint),
    destructiveHint: toFlag(destructiveHint),
    idempotentHint: toFlag(idempotentHint),
    openWorldHint: toFlag(openWorldHint),
  }) as Definition['annotations'];
}

const readMeta = (meta: Json): Json | undefined =>
  toPresent(Object.fromEntries(Object.entries(meta).filter(([key]) => isRelayedKey(key))));

/** Reads a tool. @param isModern - whether its server speaks the revision in which parameters can be sent as headers. */
function readTool(tool: Json, isModern: boolean): Definition | LeftOutReason {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta: meta } = tool;
  if (typeof name !== 'string' || !nameForm.test(name)) return 'invalid_name';
  const input = isObject(inputSchema ?? {}) ? readSchema((inputSchema ?? {}) as Json) : undefined;
  if (input === undefined) return 'invalid_input_schema';
  if (isModern && hasInvalidHeaders(input)) return 'invalid_header';
  const members = {
    name,
    title: toText(title),
    description: toText(description),
    inputSchema: input,
    // The schema of a value that is no object is unknown to earlier revisions. The tool works without it.
    outputSchema: isObject(outputSchema) && 'type' in outputSchema ? readSchema(outputSchema) : undefined,
    annotations: isObject(annotations) ? readAnnotations(annotations) : undefined,
    _meta: isObject(meta) ? readMeta(meta) : undefined,
  };
  return toPresent(members) as Definition;
}

/** Returns the beginning of a tool's name; null when it has none. */
function readName(json: string): string | null {
  const name: unknown = JSON.parse(readJsonMembers(json).get('name') ?? 'null');
  return typeof name === 'string' ? name.slice(0, MAX_SHOWN_NAME) : null;
}

/** Reads a list. @param tools - each as JSON. */
export function readOfferedTools(tools: readonly string[], isModern: boolean): OfferedTools {
  const definitions: PinnedDefinition[] = [];
  const suffixes = new Set<string>();
  const leftOut: LeftOutTool[] = [];
  let bytes = 0;

  function read(json: string): LeftOutReason | undefined {
    if (findExcess(Buffer.from(json))) return 'too_large';
    const tool = parseJson(json);
    const definition = isObject(tool) ? readTool(tool, isModern) : 'invalid_name';
    if (typeof definition === 'string') return definition;
    const suffix = toNameSuffix(definition.name);
    if (suffixes.has(suffix)) return 'duplicate_name';
    const pinned = pinDefinition(definition);
    const size = Buffer.byteLength(pinned.json);
    if (definitions.length === MAX_TOOLS || bytes + size > MAX_DEFINITION_BYTES) return 'too_large';
    bytes += size;
    suffixes.add(suffix);
    definitions.push(pinned);
    return undefined;
  }

  for (const json of tools) {
    const reason = read(json);
    if (reason !== undefined && leftOut.length < MAX_LEFT_OUT) leftOut.push({ name: readName(json), reason });
  }
  return { definitions, leftOut };
}
