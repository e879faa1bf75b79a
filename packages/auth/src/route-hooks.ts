import type { RouteOptions } from 'fastify';
import type { Authentication } from './authenticate.js';
import { documentDemands, documentPublic } from './demands.js';

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

/** An `onRoute` hook that documents who may call each route, so that the document cannot differ from what the route does. */
export const documentSecurity =
  ({ isAuthenticating }: Authentication) =>
  (route: RouteOptions): void => {
    const { schema, onRequest = [], method } = route;
    // Fastify adds a route for HEAD with the schema of GET.
    if (!schema || schema.hide === true || method === 'HEAD') return;
    const hooks = [onRequest].flat();
    route.schema = hooks.some(isAuthenticating)
      ? documentDemands(schema, hooks)
      : documentPublic(schema, hooks);
  };
