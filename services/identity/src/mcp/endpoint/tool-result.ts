import type { CallToolResult } from '@modelcontextprotocol/server';

/** The result of one of the platform's tools. The text is the structured content as JSON, or describes an error. */
interface OwnResult {
  readonly text: string;
  /** Undefined for an error. */
  readonly structured: Record<string, unknown> | undefined;
}

/** The result of another server's tool, which is passed on with all of its content. */
interface PassedResult {
  readonly passed: Pick<CallToolResult, 'content' | 'structuredContent' | 'isError'>;
}

export type ToolResult = OwnResult | PassedResult;

/** Longer error texts are cut, so that they don't fill the model's context. */
const MAX_ERROR_LENGTH = 2_000;

export const toolError = (text: string): ToolResult => ({
  text: text.slice(0, MAX_ERROR_LENGTH),
  structured: undefined,
});

export const toolResult = (structured: Record<string, unknown>): ToolResult => ({
  text: JSON.stringify(structured),
  structured,
});

export const passedResult = ({ content, structuredContent, isError }: CallToolResult): ToolResult => ({
  passed: {
    content,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
  },
});

/** Whether another server's tool reports an error. */
export const isPassedError = (result: ToolResult): boolean =>
  'passed' in result && result.passed.isError === true;

/** Whether a result reports to the model that the call failed. */
export const isErrorResult = (result: ToolResult): boolean =>
  'passed' in result ? isPassedError(result) : result.structured === undefined;

/** Converts a result to JSON. @param more - further members as JSON, each preceded by a comma. */
export function toResultJson(result: ToolResult, more: string): string {
  if ('passed' in result) return `${JSON.stringify(result.passed).slice(0, -1)}${more}}`;
  const { text, structured } = result;
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],${structured ? `"structuredContent":${text}` : '"isError":true'}${more}}`;
}
