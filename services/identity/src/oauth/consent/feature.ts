import type { App } from '@platform/service-kit';
import { consentRoutes } from './routes.js';
import { createConsentService } from './service.js';

/** Registers the pages on which members allow an application to act for them. */
export function registerConsent(app: App, deps: Parameters<typeof createConsentService>[0]): void {
  consentRoutes(app, { provider: deps.provider, service: createConsentService(deps) });
}
