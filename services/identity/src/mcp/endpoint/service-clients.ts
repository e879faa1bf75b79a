import { createCrawlClient, createMailClient } from '@platform/clients';
import type { Shutdown } from '@platform/service-kit';
import type { ExchangeFor } from '../../oauth/provider/token-exchange.js';

export interface ServiceClientSettings {
  /** Undefined when the service isn't there. */
  readonly crawlUrl: string | undefined;
  readonly mailUrl: string | undefined;
  readonly crawlTimeoutMs: number;
  readonly mailTimeoutMs: number;
  /** The number of connections to each service. */
  readonly connections: number;
}

/** Opens the clients of the services that tools call. */
export function openServiceClients(
  settings: ServiceClientSettings,
  { exchangeFor, shutdown }: { readonly exchangeFor: ExchangeFor; readonly shutdown: Shutdown },
) {
  const { crawlUrl, mailUrl, crawlTimeoutMs, mailTimeoutMs, connections } = settings;
  const crawl =
    crawlUrl === undefined
      ? undefined
      : createCrawlClient({
          baseUrl: crawlUrl,
          timeoutMs: crawlTimeoutMs,
          connections,
          exchangeToken: exchangeFor('crawl'),
        });
  const mail =
    mailUrl === undefined
      ? undefined
      : createMailClient({
          baseUrl: mailUrl,
          timeoutMs: mailTimeoutMs,
          connections,
          exchangeToken: exchangeFor('mail'),
        });
  shutdown.on('close', 'service clients', () => Promise.all([crawl?.close(), mail?.close()]));
  return { crawl, mail };
}
