import { setTimeout as delay } from 'node:timers/promises';
import { type Call, identityUnavailable } from './identity-caller.js';
import { JWKS_PATH } from './introspection.js';
import { type Jwks, type KeySet, toKeys } from './key-set.js';

/** Shorter than the time for which identity publishes a new key before it signs with it (see identity's README). */
const KEYS_POLL_MS = 5_000;
/** The interval until the first keys are loaded; services start in any order. */
const FIRST_KEYS_POLL_MS = 250;
/** Until then, a service that was started together with identity is only early. */
const START_GRACE_MS = 15_000;

/** Loads the signing keys that identity publishes, and keeps them fresh. */
export function createPublishedKeys(call: Call, onFailed: (error: unknown) => void) {
  const abort = new AbortController();
  let keys: ReadonlyMap<string, string> | undefined;
  let published = '';
  let isStale = false;
  let isReported = false;
  let startedAt = -Infinity;
  async function load(): Promise<void> {
    const { status, body } = await call('GET', JWKS_PATH);
    if (status !== 200) throw new Error(`identity answered ${status} to ${JWKS_PATH}`);
    const text = JSON.stringify(body);
    if (text === published) return;
    keys = toKeys(body as Jwks);
    published = text;
  }
  async function refresh(): Promise<void> {
    try {
      await load();
      isStale = false;
      isReported = false;
    } catch (error) {
      isStale = true;
      // An outage is reported once, not at every poll.
      if (isReported || (!keys && performance.now() - startedAt < START_GRACE_MS)) return;
      isReported = true;
      onFailed(error);
    }
  }
  async function poll(): Promise<void> {
    while (!abort.signal.aborted) {
      await delay(keys ? KEYS_POLL_MS : FIRST_KEYS_POLL_MS, undefined, {
        ref: false,
        signal: abort.signal,
      }).catch(() => undefined);
      if (!abort.signal.aborted) await refresh();
    }
  }
  const keySet: KeySet = {
    current() {
      if (!keys) throw identityUnavailable(new Error('no signing keys yet'));
      return keys;
    },
    isStale: () => isStale,
  };
  return {
    keySet,
    async start() {
      startedAt = performance.now();
      // Identity may start later; verification fails with 503 until its keys are loaded.
      await refresh();
      void poll();
    },
    close: () => {
      abort.abort();
    },
  };
}
