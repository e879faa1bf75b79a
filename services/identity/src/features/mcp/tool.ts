import { hasScope, type Scope, type UserPrincipal } from '@platform/auth';
import type { FaultDetail } from '@platform/service-kit';
import type { TSchema } from 'typebox';

/** Hints for the model's host (MCP `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** One remote tool. Each has a file of its own under `tools/`. */
export interface Tool {
  /** Lower snake case. */
  readonly name: string;
  readonly title: string;
  /** For the model: what it does, when to use it, what it returns, in which units. */
  readonly description: string;
  readonly inputSchema: TSchema;
  readonly outputSchema: TSchema;
  readonly annotations: ToolAnnotations;
  /** All of them are needed, from a token. */
  readonly scopes: readonly Scope[];
  /** Whether the owner must be an administrator now. */
  readonly isAdminOnly: boolean;
  /** @throws AppError, whose message the caller is shown. */
  call(principal: UserPrincipal, args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
}

/** Shown is what can be called, by one rule for both. */
export const canCall = (principal: UserPrincipal, tool: Tool): boolean =>
  tool.scopes.every((scope) => hasScope(principal, scope)) &&
  (!tool.isAdminOnly || principal.role === 'admin');

/** Faults of the arguments, in the words of the REST endpoints. */
export type CheckArguments = (args: unknown) => FaultDetail[];
