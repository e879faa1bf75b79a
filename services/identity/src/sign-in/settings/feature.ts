import type { App } from '@platform/service-kit';
import { signInSettingsRoutes } from './routes.js';
import { createSignInSettings } from './service.js';

/** Registers the settings of how members sign in. */
export function registerSignInSettings(app: App, deps: Parameters<typeof createSignInSettings>[0]): void {
  signInSettingsRoutes(app, createSignInSettings(deps));
}
