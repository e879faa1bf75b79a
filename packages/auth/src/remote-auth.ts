import {
  type Clock,
  integer,
  origin,
  type ServiceApp,
  text,
  url,
  type Values,
  type Variable,
  withDefault,
} from '@platform/service-kit';
import type { AuthErrorMessages } from './challenges.js';
import { CLOCK_TOLERANCE_MS, DEFAULT_ISSUER, type IdentityClient } from './identity-client.js';
import { authPlugin } from './plugin.js';

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

/** Registers authentication in a service other than identity. The service is ready only while it has identity's keys. */
export async function registerRemoteAuth(
  { app, health }: ServiceApp,
  deps: {
    readonly audience: string;
    readonly config: Pick<IdentityClientConfig, 'PUBLIC_URL' | 'TOKEN_ISSUER'>;
    readonly identity: Pick<IdentityClient, 'keySet' | 'liveness'>;
    readonly clock: Clock;
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
    ...(messages && { messages }),
  });
}
