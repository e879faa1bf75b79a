/*
 * How the other services hand to identity what happened there: entries of the audit, the ends of runs and mails, and crawls
 * that keep failing. A fact is handed over at least once, under a unique id.
 */

/** The scopes with which the crawl service and the mail service hand over facts. */
export const CRAWL_FACTS_SCOPE = 'facts:crawl';
export const MAIL_FACTS_SCOPE = 'facts:mail';

/** Gateways do not route it. */
export const FACTS_PATH = '/api/v1/internal/facts';

/** The largest number of facts in one request. */
export const MAX_FACTS = 100;
