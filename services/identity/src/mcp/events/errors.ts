import { RpcCode, RpcFault } from '../endpoint/rpc-message.js';

/*
 * The errors of events, with the codes that OpenAI documents for ChatGPT, and that servers and clients use. The final
 * SEP-3415 numbers the same errors -32023 to -32027: change them together with the clients.
 */
const EventCode = { notFound: -32_011 } as const;

/** An unknown type and one that the caller may not see are the same. */
export const eventNotFound = (): RpcFault =>
  new RpcFault(EventCode.notFound, 'Event not found', { data: { kind: 'event' } });
export const invalidParams = (message: string): RpcFault => new RpcFault(RpcCode.invalidParams, message);
