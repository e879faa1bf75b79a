/** The names of the platform's own remote tools. A token is limited to them before the tool endpoint exists. [MCP-8] */
export const platformTools: ReadonlySet<string> = new Set([
  'whoami',
  'list_my_tokens',
  'rotate_my_token',
  'revoke_my_token',
  'list_connectors',
  'schedule_crawl',
  'get_crawl',
  'list_crawls',
  'pause_crawl',
  'resume_crawl',
  'remove_crawl',
  'crawl_stats',
  'send_email',
]);
