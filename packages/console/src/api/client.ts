import type { CrawlPaths, IdentityPaths, MailPaths } from '@platform/clients/types';
import createClient from 'openapi-fetch';
import { send } from './session.ts';

const options = { baseUrl: location.origin, fetch: send };

/* A call resolves with `data`, or throws a Problem. */
export const identity = createClient<IdentityPaths>(options);
export const mail = createClient<MailPaths>(options);
export const crawl = createClient<CrawlPaths>(options);

/** Unwraps what a call resolves with: `send` has thrown for everything but 2xx. */
export async function unwrap<Data>(call: Promise<{ readonly data?: Data }>): Promise<NonNullable<Data>> {
  return (await call).data as NonNullable<Data>;
}
