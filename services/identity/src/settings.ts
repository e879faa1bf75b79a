import { VERSION } from '@platform/service-kit';
import type { IdentityConfig } from './config.js';
import type { McpServerSettings } from './mcp/servers/feature.js';
import type { McpSettings } from './mcp/endpoint/feature.js';
import type { OauthSettings } from './oauth/provider/feature.js';

export const toOauthSettings = (config: IdentityConfig): OauthSettings => ({
  publicUrl: config.PUBLIC_URL,
  encryptionKeys: config.ENCRYPTION_KEYS,
  clientHosts: config.OAUTH_CLIENT_HOSTS,
  isRegistrationOpen: config.OAUTH_REGISTRATION === 'on',
});

export const toMcpServerSettings = (config: IdentityConfig): McpServerSettings => ({
  allowedTargets: config.MCP_SERVER_ALLOWED_TARGETS,
  timeoutMs: config.MCP_SERVER_TIMEOUT_MS,
  maxCalls: config.MCP_SERVER_CALLS,
  refreshMs: config.MCP_SERVER_REFRESH_MS,
  version: VERSION,
  consoleUrl: config.PUBLIC_URL,
});

export const toMcpSettings = (config: IdentityConfig): McpSettings => ({
  services: {
    crawlUrl: config.CRAWL_URL,
    mailUrl: config.MAIL_URL,
    crawlTimeoutMs: config.TOOL_TIMEOUT_MS,
    mailTimeoutMs: config.MAIL_TOOL_TIMEOUT_MS,
    connections: config.TOOL_CONNECTIONS,
  },
  waits: {
    maxMs: config.TOOL_WAIT_MAX_MS,
    maxTotal: config.TOOL_WAITS,
    maxPerCredential: config.TOOL_WAITS_PER_CREDENTIAL,
  },
  requestsPerMinute: config.MCP_REQUESTS_PER_MINUTE,
  publicUrl: config.PUBLIC_URL,
  version: VERSION,
});
