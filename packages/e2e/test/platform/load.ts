import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@platform/testing';

/** One request that clients repeat. */
export interface Call {
  readonly path: string;
  readonly token: string;
  /** Creates the body of each request, which is then a POST. */
  readonly body?: () => unknown;
  readonly status: number;
}

/** A response other than the expected one, or none. */
export interface Failure {
  readonly call: string;
  readonly got: string;
  readonly tookMs: number;
}

export interface Load {
  /** Resolves when this many more requests have been answered. */
  advance(answers: number): Promise<void>;
  /** Ends every client after its current request. @returns the failures. */
  stop(): Promise<readonly Failure[]>;
}

const CLIENTS_PER_CALL = 2;
/** The pause between two requests of a client, since the machine's speed is not under test. */
const PAUSE_MS = 50;

export async function send(url: string, { path, token, body }: Call): Promise<Response> {
  return fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body()) }),
  });
}

/** Repeats every call with a few concurrent clients, each at most 20 times a second, until it is stopped. */
export function startLoad(url: string, calls: readonly Call[]): Load {
  const failures: Failure[] = [];
  let answers = 0;
  const stopping = new AbortController();
  async function repeat(call: Call): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const got = await send(url, call).then(
        async (response) => {
          const text = await response.text();
          return response.status === call.status ? '' : `${response.status} ${text}`;
        },
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      answers += 1;
      if (got !== '')
        failures.push({ call: call.path, got, tookMs: Math.round(performance.now() - startedAt) });
      await delay(PAUSE_MS);
    }
  }
  const clients = calls.flatMap((call) => Array.from({ length: CLIENTS_PER_CALL }, () => repeat(call)));
  return {
    async advance(more) {
      const goal = answers + more;
      await waitFor(() => answers >= goal, { what: `${more} more answers` });
    },
    async stop() {
      stopping.abort();
      await Promise.all(clients);
      return failures;
    },
  };
}
