import type { RouteOptions } from 'fastify';
import type { Authentication } from './authenticate.js';

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

/** An `onRoute` hook that documents which routes need a bearer, so that the document cannot differ from what they do. */
export const documentSecurity =
  ({ isAuthenticating }: Authentication) =>
  ({ schema, onRequest = [] }: RouteOptions): void => {
    if (schema && [onRequest].flat().some(isAuthenticating)) schema.security ??= [{ bearer: [] }];
  };
