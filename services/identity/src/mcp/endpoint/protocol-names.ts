import type * as sdk from '@modelcontextprotocol/server';

/*
 * Names of the protocol. Their types are the official SDK's, so that another value does not compile; importing the values
 * would load the whole SDK and its schema library, 30 MB of memory.
 */

export const CLIENT_CAPABILITIES_META_KEY: typeof sdk.CLIENT_CAPABILITIES_META_KEY =
  'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO_META_KEY: typeof sdk.CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
export const PROTOCOL_VERSION_META_KEY: typeof sdk.PROTOCOL_VERSION_META_KEY =
  'io.modelcontextprotocol/protocolVersion';
export const SERVER_INFO_META_KEY: typeof sdk.SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID_META_KEY: typeof sdk.SUBSCRIPTION_ID_META_KEY =
  'io.modelcontextprotocol/subscriptionId';
