import type { Route } from './operation.js';

/** Where an operation is, and what a client has to know of it. */
export interface ClientRoute extends Route {
  /** Whether it lists page by page, and takes `limit`. */
  readonly isPaged: boolean;
  /** Whether it takes an `Idempotency-Key`, with which a repeated request is done once. */
  readonly isKeyed: boolean;
  /** The media types of its successes that are not `application/json`. */
  readonly otherTypes: readonly string[];
}

/** Parses `<METHOD> <path>`, followed by `paged`, `keyed`, and the media types of successes that are not JSON. */
export function parseRoute(text: string): ClientRoute {
  const [method = '', path = '', ...flags] = text.split(' ');
  return {
    method,
    path,
    isPaged: flags.includes('paged'),
    isKeyed: flags.includes('keyed'),
    otherTypes: flags.filter((flag) => flag.includes('/')),
  };
}
