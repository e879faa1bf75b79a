import type { RouteOptions } from 'fastify';
import type { Authentication } from './authenticate.js';
import { findRequiredScopes } from './guards.js';

/**
 * An `onRoute` hook that stores with each route the scopes that its guards require, because a credential is verified
 * before they run.
 */
export function keepRequiredScopes(route: RouteOptions): void {
  const requiredScopes = findRequiredScopes([route.onRequest ?? []].flat());
  if (requiredScopes.length > 0) route.config = { ...route.config, requiredScopes };
}

const hasBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((name) => name !== 'GET' && name !== 'HEAD');

/** An `onRoute` hook that makes routes with authentication and a possible body authenticate again after the body. */
export const reverifyAfterBody =
  ({ findAgain }: Authentication) =>
  (route: RouteOptions): void => {
    if (!hasBody(route)) return;
    const hooks = [route.onRequest ?? []].flat();
    const again = hooks.map(findAgain).find(Boolean);
    if (!again) return;
    route.preValidation = [again, ...[route.preValidation ?? []].flat()];
  };
