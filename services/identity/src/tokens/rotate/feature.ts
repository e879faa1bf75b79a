import type { App } from '@platform/service-kit';
import { tokenRotationRoutes } from './routes.js';
import { createTokenRotation, type TokenRotation } from './service.js';

/** Registers the rotation of tokens: by their owner, and by the token itself. */
export function registerTokenRotation(
  app: App,
  deps: Parameters<typeof createTokenRotation>[0],
): TokenRotation {
  const rotation = createTokenRotation(deps);
  tokenRotationRoutes(app, rotation);
  return rotation;
}
