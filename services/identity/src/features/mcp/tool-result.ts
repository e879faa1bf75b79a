import type { CallToolResult } from '@modelcontextprotocol/server';

/** The result of a call. The text is the structured content as JSON, or the description of an error. */
export interface ToolResult {
  readonly text: string;
  /** Undefined for an error. */
  readonly structured: Record<string, unknown> | undefined;
}

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

/** Converts a result to the SDK's type. */
export const toCallToolResult = ({ text, structured }: ToolResult): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(structured ? { structuredContent: structured } : { isError: true }),
});

/** Converts a result to JSON. @param more - further members as JSON, each preceded by a comma. */
export const toResultJson = ({ text, structured }: ToolResult, more: string): string =>
  `{"content":[{"type":"text","text":${JSON.stringify(text)}}],${structured ? `"structuredContent":${text}` : '"isError":true'}${more}}`;
