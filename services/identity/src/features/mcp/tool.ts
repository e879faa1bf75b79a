import type { Scope, UserPrincipal } from '@platform/auth';
import type { ClientAddress } from '../known-devices/client.js';

/** Hints for the model's host (MCP `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** How far a call is (MCP `notifications/progress`). */
export interface Progress {
  /** Grows with each report. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** For whom, and as part of what, a tool is called. */
export interface ToolContext {
  readonly principal: UserPrincipal;
  readonly requestId: string;
  /** What the client says it is. */
  readonly client: string | undefined;
  /** Where the request came from. */
  readonly address: ClientAddress;
  /** W3C Trace Context, as the request carried it. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Aborted when the client goes away or cancels. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Whether the client hears of progress before the answer. */
  readonly isStreamed: boolean;
  /** Tells the client, if it asked to be told. Never fails. */
  report(progress: Progress): Promise<void>;
}

/** JSON Schema of an object, TypeBox's included. */
export interface ToolSchema {
  readonly type: 'object';
  readonly properties?: object;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: unknown;
}

/** One remote tool. Each has a file of its own under `tools/`. */
export interface Tool<Arguments = Readonly<Record<string, unknown>>> {
  /** Lower snake case. */
  readonly name: string;
  readonly title: string;
  /** For the model: what it does, when to use it, what it returns, in which units. */
  readonly description: string;
  readonly inputSchema: ToolSchema;
  /** What of the arguments is checked before the call, when a REST endpoint checks the rest. Default: all. */
  readonly checkedSchema?: ToolSchema;
  readonly outputSchema: ToolSchema;
  readonly annotations: ToolAnnotations;
  /** All of them are needed, from a token. */
  readonly scopes: readonly Scope[];
  /** Whether the owner must be an administrator now. */
  readonly isAdminOnly: boolean;
  /** Whether a session isn't enough. */
  readonly isTokenOnly?: boolean;
  /** @throws AppError or ServiceFault, whose message the caller is shown. */
  call(args: Arguments, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Of tools that look and change nothing. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
