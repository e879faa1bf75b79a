import { dependencyUnavailable, notApplied } from '@platform/service-kit';

/** Returns the unvalidated configuration, or undefined when there is none. @throws AppError 503 when it can't be fetched. */
export type FetchConfiguration = (orgId: string, requestId?: string) => Promise<unknown>;

const TIMEOUT_MS = 2_000;

/**
 * Creates a client of the configuration manager: identity, or an external service that responds to
 * `GET /api/v1/configurationManager/internal/smtpConfig?orgId=…` with `{smtp}` or 404. The contract is mail's own and
 * tolerant, so it is not identity's generated client, which refuses any answer that identity would not give.
 */
export function createManagerClient(options: {
  readonly managerUrl: string;
  /** Returns this service's own credential with `FETCH_CONFIG`. */
  readonly serviceToken: () => Promise<string>;
}): FetchConfiguration {
  return async (orgId, requestId) => {
    try {
      const url = new URL(`${options.managerUrl}/api/v1/configurationManager/internal/smtpConfig`);
      url.searchParams.set('orgId', orgId);
      const response = await fetch(url, {
        headers: {
          authorization: `Bearer ${await options.serviceToken()}`,
          ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
        },
        // A redirect would send the credential to another server.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      if (!response.ok) {
        await response.body?.cancel();
        throw new Error(`The configuration manager responded with ${response.status}`);
      }
      return ((await response.json()) as { smtp?: unknown } | null)?.smtp ?? {};
    } catch (error) {
      throw notApplied(dependencyUnavailable('configuration manager', error));
    }
  };
}
