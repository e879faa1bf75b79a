import type { ErrorShape } from '../services.js';

/** A service as the gateway sees it. */
export interface Upstream {
  readonly name: string;
  /** Origin without a path, for example `http://127.0.0.1:4001`. */
  readonly url: string;
  readonly prefixes: readonly string[];
  /** Paths without anything below. */
  readonly exact?: readonly string[];
  /** Paths below the prefixes that are not routed. */
  readonly internal: readonly string[];
  readonly errorShape: ErrorShape;
}
