import { Type } from 'typebox';

/* What crawl hands to identity, so that the administrators of an organisation are mailed. */

/** The scope that a service credential needs to have administrators mailed. */
export const NOTICE_SCOPE = 'admins:notify';

/** Gateways do not route it. */
export const CRAWL_NOTICE_PATH = '/api/v1/internal/crawlNotices';

/** The largest number of crawls in one notice. */
export const MAX_NOTICE_CRAWLS = 1_000;

export const CrawlNotice = Type.Object(
  {
    orgId: Type.String({ format: 'uuid' }),
    crawls: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 300 }),
          failures: Type.Integer({
            minimum: 0,
            description: 'How many runs in a row have failed; 0 when the crawl completes again.',
          }),
          reason: Type.Union([Type.String({ maxLength: 2_000 }), Type.Null()]),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_NOTICE_CRAWLS },
    ),
  },
  { additionalProperties: false },
);
export type CrawlNotice = Type.Static<typeof CrawlNotice>;
