import type { CallToolResult } from '@modelcontextprotocol/server';

/** What came of a call, its text made once: the structured content as JSON, or what went wrong. */
export interface ToolResult {
  readonly text: string;
  /** Undefined: an error. */
  readonly structured: Record<string, unknown> | undefined;
}

/** Longer, an error would fill the model's context: what matters comes first. */
const MAX_ERROR_LENGTH = 2_000;

export const toolError = (text: string): ToolResult => ({
  text: text.slice(0, MAX_ERROR_LENGTH),
  structured: undefined,
});

export const toolResult = (structured: Record<string, unknown>): ToolResult => ({
  text: JSON.stringify(structured),
  structured,
});

/** As the SDK takes it. */
export const toCallToolResult = ({ text, structured }: ToolResult): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(structured ? { structuredContent: structured } : { isError: true }),
});

/** The same as JSON. @param more - members as JSON, each behind a comma. */
export const toResultJson = ({ text, structured }: ToolResult, more: string): string =>
  `{"content":[{"type":"text","text":${JSON.stringify(text)}}],${structured ? `"structuredContent":${text}` : '"isError":true'}${more}}`;
