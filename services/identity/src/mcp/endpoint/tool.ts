import type { Scope, AccountPrincipal } from '@platform/auth';
import type { ClientAddress } from '../../base/caller/client.js';

/** Hints for the model's host (MCP `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The progress of a call (MCP `notifications/progress`). */
export interface Progress {
  /** Increases with each report. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The caller of a tool and the request that the call is part of. */
export interface ToolContext {
  readonly principal: AccountPrincipal;
  /** The ids of the caller's groups, as they were when the tool was found. */
  readonly groups: ReadonlySet<string>;
  readonly requestId: string;
  /** The revision of the protocol that the request names; undefined when it names none. */
  readonly protocolVersion: string | undefined;
  /** The name that the client gives itself. */
  readonly client: string | undefined;
  /** The client that sent the request. */
  readonly address: ClientAddress;
  /** The W3C Trace Context of the request. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Aborted when the client disconnects or cancels. Created on first use. */
  readonly signal: AbortSignal;
  /** Whether the client receives progress notifications. */
  readonly isStreamed: boolean;
  /** Returns the parameters of the request as JSON, as they were sent. */
  getParamsText(this: void): string;
  /** Reports progress to the client if it has requested that. It never rejects. */
  report(progress: Progress): Promise<void>;
}

/** The JSON Schema of an object; TypeBox schemas are assignable to it. */
export interface ToolSchema {
  readonly type: 'object';
  readonly properties?: object;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: unknown;
}

/** A remote tool. They are in `tools/`. */
export interface Tool<Arguments = Readonly<Record<string, unknown>>> {
  /** The name, in lower snake case. */
  readonly name: string;
  readonly title: string;
  /** Explains to the model what the tool does, when to use it, and what it returns in which units. */
  readonly description: string;
  readonly inputSchema: ToolSchema;
  /** The schema checked before the call, when a REST endpoint checks the remaining fields. Default: `inputSchema`. */
  readonly checkedSchema?: ToolSchema;
  readonly outputSchema: ToolSchema;
  readonly annotations: ToolAnnotations;
  /** A token needs all of these scopes. */
  readonly scopes: readonly Scope[];
  /** Whether the owner must currently be an administrator. */
  readonly isAdminOnly: boolean;
  /** Whether sessions can't call the tool. */
  readonly isTokenOnly?: boolean;
  /** @throws AppError or ServiceFault, whose message is shown to the caller. */
  call(args: Arguments, context: ToolContext): Promise<Record<string, unknown>>;
}

/** The annotations of tools that only read. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
