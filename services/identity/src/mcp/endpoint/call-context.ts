import type { CallContext } from '@platform/clients';
import type { ToolContext } from './tool.js';

/** Returns the context for calling another service on behalf of the tool's caller, with the caller's own credential. */
export const toCallContext = (context: ToolContext): CallContext => ({
  token: context.principal.token,
  orgId: context.principal.orgId,
  requestId: context.requestId,
  clientAddress: context.address.address,
  traceparent: context.traceparent,
  tracestate: context.tracestate,
  signal: context.signal,
});
