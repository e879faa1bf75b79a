/** The version of the platform, which services report in their documentation, and to MCP clients and servers. */
export const VERSION = '0.1.0';
