import { createTokenBuckets, type App, type Clock, type Logger, type Shutdown } from '@platform/service-kit';
import type { Registry } from 'prom-client';
import type { ExchangeFor } from '../../oauth/provider/token-exchange.js';
import type { RecordStep } from '../../oauth/attempts/feature.js';
import type { ToolCallRecorder } from '../activity/recorder.js';
import { createToolEndpoint, type FindCatalogue, type ToolEndpoint } from './endpoint.js';
import type { ExtensionMethods } from './methods.js';
import { createTools, type ToolDeps } from './registry.js';
import { mcpRoutes } from './routes.js';
import { createObserveCall } from './telemetry.js';
import { openServiceClients, type ServiceClientSettings } from './service-clients.js';
import { usableToolRoutes } from './usable-tools.routes.js';
import { createWaits, type WaitLimits, type Waits } from './waits.js';

export interface McpSettings {
  readonly services: ServiceClientSettings;
  readonly waits: WaitLimits;
  /** The limit of a credential, at each replica. */
  readonly requestsPerMinute: number;
  /** The URL at which clients reach the platform. */
  readonly publicUrl: string;
  /** The version that the server reports to clients. */
  readonly version: string;
}

/** Creates the limiter of waiting tool calls. Waits end as soon as shutdown begins, so that they don't delay it. */
function openWaits(limits: WaitLimits, shutdown: Shutdown): Waits {
  const waits = createWaits(limits);
  shutdown.on('unready', 'waiting tools', waits.stop);
  return waits;
}

/** Registers `/mcp` with the platform's own tools. @returns the endpoint behind it. */
export function registerMcp(
  app: App,
  deps: Pick<ToolDeps, 'findOrganisationName' | 'tokens' | 'findAges'> & {
    readonly settings: McpSettings;
    /** Returns the credential with which a tool calls a service for its caller. */
    readonly exchangeFor: ExchangeFor;
    readonly recordCall: ToolCallRecorder['record'];
    readonly recordStep: RecordStep;
    /** Finds the catalogue of an organisation that has mounted tools. */
    readonly findCatalogue: FindCatalogue;
    /** The methods of events. */
    readonly events: ExtensionMethods;
    readonly clock: Clock;
    readonly metrics: Registry;
    readonly log: Logger;
    readonly shutdown: Shutdown;
  },
): ToolEndpoint {
  const { settings, clock, log, shutdown } = deps;
  const { services, publicUrl, version } = settings;
  const tools = createTools({
    ...deps,
    ...openServiceClients(services, deps),
    mailTimeoutMs: services.mailTimeoutMs,
    waits: openWaits(settings.waits, shutdown),
  });
  const observeCall = createObserveCall(deps.metrics, new Set(tools.map(({ name }) => name)));
  const endpoint = createToolEndpoint({ ...deps, tools, observeCall, version });
  const countRequest = createTokenBuckets(
    settings.requestsPerMinute,
    clock,
    'Too many requests of this credential',
  );
  mcpRoutes(app, { endpoint, countRequest, recordStep: deps.recordStep, publicUrl, log });
  usableToolRoutes(app, { endpoint, countRequest });
  return endpoint;
}
