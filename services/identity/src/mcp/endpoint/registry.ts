import type { CrawlClient, MailClient } from '@platform/clients';
import type { Clock } from '@platform/service-kit';
import type { TokenContext } from '../../tokens/context.js';
import type { Tool } from './tool.js';
import type { Waits } from './waits.js';
import {
  crawlStats,
  type FindAges,
  getCrawl,
  listConnectors,
  pauseCrawl,
  removeCrawl,
  resumeCrawl,
} from './tools/crawls.js';
import { listCrawls } from './tools/list-crawls.js';
import { listMyTokens } from './tools/list-my-tokens.js';
import { rotateMyToken } from './tools/rotate-my-token.js';
import { revokeMyToken } from './tools/revoke-my-token.js';
import { scheduleCrawl } from './tools/schedule-crawl.js';
import { sendEmail } from './tools/send-email.js';
import { whoami } from './tools/whoami.js';

export interface ToolDeps {
  readonly findOrganisationName: (id: string) => Promise<string>;
  readonly tokens: TokenContext;
  /** Undefined when there is no crawl service; its tools are then left out. */
  readonly crawl: CrawlClient | undefined;
  readonly mail: MailClient | undefined;
  /** The timeout of calls to the mail service. */
  readonly mailTimeoutMs: number;
  readonly waits: Waits;
  readonly findAges: FindAges;
  readonly clock: Clock;
}

/** Creates all tools, in the order in which they are listed. */
export const createTools = ({
  findOrganisationName,
  tokens,
  crawl,
  mail,
  mailTimeoutMs,
  waits,
  findAges,
  clock,
}: ToolDeps): Tool[] => [
  whoami(findOrganisationName),
  listMyTokens(tokens),
  rotateMyToken(tokens),
  revokeMyToken(tokens),
  ...(crawl
    ? [
        listConnectors(crawl),
        scheduleCrawl(crawl, waits),
        getCrawl(crawl, findAges, clock),
        listCrawls(crawl),
        pauseCrawl(crawl),
        resumeCrawl(crawl),
        removeCrawl(crawl),
        crawlStats(crawl),
      ]
    : []),
  ...(mail ? [sendEmail(mail, mailTimeoutMs)] : []),
];
