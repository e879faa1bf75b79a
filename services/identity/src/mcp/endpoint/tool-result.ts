import { readJsonMembers, writeJsonMembers } from '@platform/service-kit';

/** The result of one of the platform's tools. The text is the structured content as JSON, or describes an error. */
interface OwnResult {
  readonly text: string;
  /** Undefined for an error. */
  readonly structured: Record<string, unknown> | undefined;
  /** What a person has to do in a browser before the call can succeed. */
  readonly link?: Link;
}

interface Link {
  readonly reason: string;
  readonly url: string;
}

/** The result of another server's tool: JSON that is passed on as it came. */
export interface PassedResult {
  readonly content: string;
  readonly structuredContent?: string;
  readonly isError: boolean;
  /** The members of `_meta`. */
  readonly meta: ReadonlyMap<string, string>;
}

export type ToolResult = OwnResult | { readonly passed: PassedResult };

/** Longer error texts are cut, so that they don't fill the model's context. */
const MAX_ERROR_LENGTH = 2_000;

export const toolError = (text: string, link?: Link): ToolResult => ({
  text: text.slice(0, MAX_ERROR_LENGTH),
  structured: undefined,
  ...(link && { link }),
});

/** Returns what a person has to do in a browser before the call can succeed. */
export const getLink = (result: ToolResult): Link | undefined =>
  'passed' in result ? undefined : result.link;

export const toolResult = (structured: Record<string, unknown>): ToolResult => ({
  text: JSON.stringify(structured),
  structured,
});

/** Whether another server's tool reports an error. */
export const isPassedError = (result: ToolResult): boolean => 'passed' in result && result.passed.isError;

/** Whether a result reports to the model that the call failed. */
export const isErrorResult = (result: ToolResult): boolean =>
  'passed' in result ? isPassedError(result) : result.structured === undefined;

function toPassedJson(
  { content, structuredContent, isError, meta }: PassedResult,
  frame: ResultFrame,
): string {
  const allMeta = [...new Map([...meta, ...frame.meta])];
  return writeJsonMembers([
    ['content', content],
    ...(structuredContent === undefined ? [] : [['structuredContent', structuredContent] as const]),
    ...(isError ? [['isError', 'true'] as const] : []),
    ...frame.members,
    ...(allMeta.length > 0 ? [['_meta', writeJsonMembers(allMeta)] as const] : []),
  ]);
}

/** The members that every result of a revision has, as JSON. */
export interface ResultFrame {
  readonly members: ReadonlyMap<string, string>;
  /** The members of `_meta`. */
  readonly meta: ReadonlyMap<string, string>;
  /** All of them, each preceded by a comma. */
  readonly json: string;
}

/** @param fields - with `_meta`, or nothing at all. */
export function createResultFrame(fields: { readonly _meta?: object }): ResultFrame {
  const text = JSON.stringify(fields);
  const members = readJsonMembers(text);
  const meta = readJsonMembers(members.get('_meta') ?? '{}');
  members.delete('_meta');
  return { members, meta, json: text === '{}' ? '' : `,${text.slice(1, -1)}` };
}

/** Converts a result to JSON. */
export function toResultJson(result: ToolResult, frame: ResultFrame): string {
  if ('passed' in result) return toPassedJson(result.passed, frame);
  const { text, structured } = result;
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],${structured ? `"structuredContent":${text}` : '"isError":true'}${frame.json}}`;
}
