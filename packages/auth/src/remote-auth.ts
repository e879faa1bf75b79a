import {
  type Clock,
  createBatchWriter,
  integer,
  type Logger,
  origin,
  type ServiceApp,
  type Shutdown,
  text,
  url,
  type Values,
  type Variable,
  withDefault,
} from '@platform/service-kit';
import type { AuthErrorMessages } from './challenges.js';
import { CLOCK_TOLERANCE_MS, DEFAULT_ISSUER, type IdentityClient } from './identity-client.js';
import { authPlugin } from './plugin.js';
import { MAX_REFUSALS, type RecordRefusal, REFUSALS_PATH, type RefusedRequest } from './refused-requests.js';

/** The variables that have the same value in every service of a platform. */
export const platformVariables = {
  /** The URL at which clients reach the platform: it identifies the `/mcp` resource and is the base of links in responses. */
  PUBLIC_URL: withDefault(
    origin(['http:', 'https:'], 'https://knowledge.example.com'),
    'http://127.0.0.1:8080',
  ),
  TOKEN_ISSUER: withDefault(text('a name or URL for the "iss" of credentials'), DEFAULT_ISSUER),
} as const;

const clientSecret: Variable<string> = {
  mustBe: "this service's secret in identity's SERVICE_CLIENTS: 32 characters or more",
  parse: (value) => (value.length >= 32 && value.length <= 256 ? value : undefined),
};

/** The variables of a service that asks identity about credentials. */
export const identityClientVariables = (clientId: string) =>
  ({
    ...platformVariables,
    IDENTITY_URL: url(['http:', 'https:'], 'http://identity:3001'),
    IDENTITY_TIMEOUT_MS: withDefault(integer(100, 5_000), 1_500),
    SERVICE_CLIENT_ID: withDefault(text("this service's id in identity's SERVICE_CLIENTS"), clientId),
    SERVICE_CLIENT_SECRET: clientSecret,
  }) as const;

export type IdentityClientConfig = Values<ReturnType<typeof identityClientVariables>>;

/** Reports refused requests to identity in batches. A kill -9 loses those of the last two seconds. */
function startRefusalReports({
  identity,
  log,
  shutdown,
}: {
  readonly identity: Pick<IdentityClient, 'report'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly shutdown: Pick<Shutdown, 'on'>;
}): RecordRefusal {
  const writer = createBatchWriter<RefusedRequest>({
    what: 'refused requests',
    async write(refusals) {
      const status = await identity.report(REFUSALS_PATH, { refusals });
      // What identity does not take, such as during an upgrade, it will not take later either.
      if (status >= 500) throw new Error(`identity answered ${status}`);
      if (status >= 400) log.warn({ status }, 'identity did not accept refused requests for its log');
    },
    everyMs: 2_000,
    maxBatch: MAX_REFUSALS,
    // A few megabytes.
    maxHeld: 5_000,
    log,
  });
  writer.start();
  shutdown.on('flush', 'refused requests', writer.stop);
  return writer.add;
}

/** Registers authentication in a service other than identity. The service is ready only while it has identity's keys. */
export async function registerRemoteAuth(
  { app, health }: ServiceApp,
  deps: {
    readonly audience: string;
    readonly config: Pick<IdentityClientConfig, 'PUBLIC_URL' | 'TOKEN_ISSUER'>;
    readonly identity: Pick<IdentityClient, 'keySet' | 'liveness' | 'report'>;
    readonly clock: Clock;
    readonly log: Pick<Logger, 'warn'>;
    readonly shutdown: Pick<Shutdown, 'on'>;
    readonly messages?: AuthErrorMessages;
  },
): Promise<void> {
  const { audience, config, clock, messages } = deps;
  const { keySet, liveness } = deps.identity;
  health.checks.set('identity', async () => keySet.current());
  await app.register(authPlugin, {
    issuer: config.TOKEN_ISSUER,
    audience,
    keySet,
    liveness,
    clock,
    clockToleranceMs: CLOCK_TOLERANCE_MS,
    publicUrl: config.PUBLIC_URL,
    recordRefusal: startRefusalReports(deps),
    ...(messages && { messages }),
  });
}
