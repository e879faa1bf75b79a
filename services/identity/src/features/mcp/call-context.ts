import type { CallContext } from '@platform/clients';
import type { ToolContext } from './tool.js';

/** A call of another service as part of a tool's: in the caller's name, with the caller's own credential. */
export const toCallContext = (context: ToolContext): CallContext => ({
  token: context.principal.token,
  orgId: context.principal.orgId,
  requestId: context.requestId,
  traceparent: context.traceparent,
  tracestate: context.tracestate,
  signal: context.signal,
});
