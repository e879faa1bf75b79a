import { type Clock, type Logger, type Shutdown, systemClock } from '@platform/service-kit';
import { createCaller } from './identity-caller.js';
import { createPublishedKeys } from './published-keys.js';
import { createRemoteLiveness } from './remote-liveness.js';
import { createServiceToken } from './service-token.js';

/** The `iss` of credentials, where the platform's `TOKEN_ISSUER` is not set. */
export const DEFAULT_ISSUER = 'workspace-platform';
/** The time by which identity's clock may be ahead of this machine's. */
export const CLOCK_TOLERANCE_MS = 5_000;

/** The time limit of a report. */
const REPORT_TIMEOUT_MS = 10_000;

/** The address and credentials with which another service reaches identity. */
export interface IdentityClientOptions {
  /** Identity's own base URL, inside the cluster. */
  readonly identityUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The time limit of each request to identity. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /**
   * Called when loading the keys fails; called again only after they have been loaded in between. At the start identity has
   * 15 s to be there.
   */
  readonly onKeysFailed?: (error: unknown) => void;
}

/** Verifies credentials for the other services: keys come from identity's JWKS, liveness from its introspection. */
export function createIdentityClient(options: IdentityClientOptions) {
  const { call, close } = createCaller(options.identityUrl, options.timeoutMs);
  // A report takes longer than a question, and must not keep one waiting.
  const reports = createCaller(options.identityUrl, REPORT_TIMEOUT_MS, 1);
  const serviceToken = createServiceToken(call, options);
  const keys = createPublishedKeys(call, options.onKeysFailed ?? (() => undefined));

  async function report(path: string, body: object, isRetry = false): Promise<number> {
    const headers = {
      authorization: `Bearer ${await serviceToken.get()}`,
      'content-type': 'application/json',
    };
    const { status } = await reports.call('POST', path, headers, JSON.stringify(body));
    // A credential that was issued before identity was upgraded may lack the scope.
    if ((status !== 401 && status !== 403) || isRetry) return status;
    serviceToken.forget();
    return report(path, body, true);
  }

  return {
    keySet: keys.keySet,
    liveness: createRemoteLiveness(call, serviceToken),

    /** Returns this service's own credential, for calling another service. */
    serviceToken: (): Promise<string> => serviceToken.get(),

    /**
     * Posts JSON to identity as this service, where many bytes may take longer than a question.
     *
     * @returns the status of the answer.
     * @throws when there is no answer: what was posted may have been stored.
     */
    report: (path: string, body: object): Promise<number> => report(path, body),

    /** Loads the keys and keeps them fresh until closed. */
    start: keys.start,
    async close(): Promise<void> {
      keys.close();
      await Promise.all([close(), reports.close()]);
    },
  };
}

export type IdentityClient = ReturnType<typeof createIdentityClient>;

/** Creates the client from a service's configuration. It is closed with the service; the caller starts it. */
export function openIdentityClient(deps: {
  readonly config: {
    readonly IDENTITY_URL: string;
    readonly IDENTITY_TIMEOUT_MS: number;
    readonly SERVICE_CLIENT_ID: string;
    readonly SERVICE_CLIENT_SECRET: string;
  };
  readonly log: Pick<Logger, 'warn'>;
  readonly shutdown: Pick<Shutdown, 'on'>;
  readonly clock: Clock;
}): IdentityClient {
  const { config, log, shutdown, clock } = deps;
  const identity = createIdentityClient({
    identityUrl: config.IDENTITY_URL,
    clientId: config.SERVICE_CLIENT_ID,
    clientSecret: config.SERVICE_CLIENT_SECRET,
    timeoutMs: config.IDENTITY_TIMEOUT_MS,
    clock,
    onKeysFailed: (error) => {
      log.warn({ err: error }, "failed to load identity's signing keys; retrying");
    },
  });
  shutdown.on('close', 'identity', identity.close);
  return identity;
}

/** The options of a service that is not the platform's own. */
export interface VerifierOptions {
  /** Identity's own address: the gateway has no routes for other services. */
  readonly identityUrl: string;
  /** Id and secret of the service in identity's `SERVICE_CLIENTS`. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** The platform's `TOKEN_ISSUER`. Default: `workspace-platform`. */
  readonly issuer?: string;
  /** The time limit of a question to identity. Default: 1,500. */
  readonly timeoutMs?: number;
  /**
   * Called when loading the keys fails; called again only after they have been loaded in between. At the start identity has
   * 15 s to be there.
   */
  readonly onKeysFailed?: (error: unknown) => void;
}

/** Creates the client of such a service. */
export const createVerifierClient = ({ timeoutMs = 1_500, ...options }: VerifierOptions) =>
  createIdentityClient({ ...options, timeoutMs, clock: systemClock });
