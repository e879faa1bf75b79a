import {
  type App,
  type Clock,
  createEgress,
  createHostResolver,
  type SecretBox,
  type Shutdown,
  type Target,
} from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { createProviderClients, type ProviderClients } from './clients.js';
import { memberConnectionRoutes, ownConnectionRoutes } from './connection.routes.js';
import type { IdentityProviderContext, ToRedirectUri } from './context.js';
import { createResolveTxt, type ResolveTxt } from './dns.js';
import { domainRoutes, providerRoutes } from './routes.js';

/** The largest answer of a provider, in bytes. */
const MAX_ANSWER_BYTES = 262_144;
/** To one provider at the same time. */
const MAX_CONNECTIONS = 64;
/** For the headers of an answer, and for the time between two parts of its body. */
const TIMEOUT_MS = 5_000;

export interface IdentityProviderDeps {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly outbox: Outbox;
  readonly allowedTargets: readonly Target[];
  readonly toRedirectUri: ToRedirectUri;
  /** Replaces the system's name servers. Tests set it. */
  readonly resolveTxt?: ResolveTxt | undefined;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
}

/**
 * Registers the settings of the organisations' identity providers.
 *
 * @returns the clients with which sign-ins talk to the providers.
 */
export function registerIdentityProvider(app: App, deps: IdentityProviderDeps): ProviderClients {
  const { allowedTargets, shutdown, resolveTxt = createResolveTxt() } = deps;
  const limits = { maxAnswerBytes: MAX_ANSWER_BYTES, maxConnections: MAX_CONNECTIONS, timeoutMs: TIMEOUT_MS };
  const egress = createEgress(allowedTargets, limits, createHostResolver());
  shutdown.on('close', 'identity providers', () => egress.agent.destroy());
  const clients = createProviderClients({ ...deps, egress });
  const ctx: IdentityProviderContext = { ...deps, egress, clients, resolveTxt };
  providerRoutes(app, ctx);
  domainRoutes(app, ctx);
  memberConnectionRoutes(app, ctx);
  ownConnectionRoutes(app, ctx);
  return clients;
}
