import { dependencyUnavailable, notApplied } from '@platform/service-kit';
import { Pool } from 'undici';

/** Also the number of questions to identity that are in flight at once. */
export const CONNECTIONS = 2;

interface CallResponse {
  readonly status: number;
  readonly body: unknown;
}

/** The connection from a gateway to a replica of identity broke. */
class BadGateway extends Error {
  override readonly name = 'BadGateway';
}

/** Errors of a kept-alive connection whose replica of identity went away during a request. */
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const isBroken = (error: unknown): boolean =>
  error instanceof BadGateway ||
  (error instanceof Error && 'code' in error && brokenConnection.has(String(error.code)));

/** Every request may be repeated, so one whose connection breaks is retried once, within the same timeout. */
export function createCaller(identityUrl: string, timeoutMs: number, connections = CONNECTIONS) {
  const { origin } = new URL(identityUrl);
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: 1_000 },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  async function call(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<CallResponse> {
    // The timer of `AbortSignal.timeout` could not be cleared, and would abort a request that has ended long ago.
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort(new Error(`no answer from identity within ${timeoutMs} ms`));
    }, timeoutMs);
    const send = async (): Promise<CallResponse> => {
      const response = await pool.request({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: limit.signal,
      });
      if (response.statusCode === 502) {
        await response.body.dump();
        throw new BadGateway('the gateway in front of identity answered 502');
      }
      return { status: response.statusCode, body: await response.body.json() };
    };
    try {
      return await send();
    } catch (error) {
      if (!isBroken(error)) throw error;
      return await send();
    } finally {
      clearTimeout(timer);
    }
  }
  return { call, close: () => pool.close() };
}

export type Call = ReturnType<typeof createCaller>['call'];

/** Marks an outage as not applied, because nothing is done for a credential before it is verified. */
export const identityUnavailable = (cause: unknown) => notApplied(dependencyUnavailable('identity', cause));
