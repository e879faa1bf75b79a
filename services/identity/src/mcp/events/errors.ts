import { RpcCode, RpcFault } from '../endpoint/rpc-message.js';

/*
 * The errors of events, with the codes that OpenAI documents for ChatGPT, and that servers and clients use. The final
 * SEP-3415 numbers the same errors -32023 to -32027: change them together with the clients.
 */
const EventCode = {
  notFound: -32_011,
  forbidden: -32_012,
  resourceExhausted: -32_013,
  unsupported: -32_014,
  callbackEndpoint: -32_015,
} as const;

/** An unknown type and one that the caller may not see are the same. */
export const eventNotFound = (): RpcFault =>
  new RpcFault(EventCode.notFound, 'Event not found', { data: { kind: 'event' } });
export const subscriptionNotFound = (): RpcFault =>
  new RpcFault(EventCode.notFound, 'Subscription not found', { data: { kind: 'subscription' } });
export const forbidden = (message: string): RpcFault => new RpcFault(EventCode.forbidden, message);
export const resourceExhausted = (message: string, data: object): RpcFault =>
  new RpcFault(EventCode.resourceExhausted, message, { data });
export const unsupported = (feature: string, value: string): RpcFault =>
  new RpcFault(EventCode.unsupported, `Unsupported ${feature}`, { data: { feature, value } });
export const callbackFailed = (reason: string): RpcFault =>
  new RpcFault(EventCode.callbackEndpoint, 'The callback URL failed its verification', { data: { reason } });
export const invalidParams = (message: string): RpcFault => new RpcFault(RpcCode.invalidParams, message);
