import type { RouteOptions } from 'fastify';
import { documentDemands, documentPublic, getDemand } from './demands.js';

const hasBody = ({ method }: RouteOptions): boolean =>
  [method].flat().some((name) => name !== 'GET' && name !== 'HEAD');

const getGuards = ({ onRequest = [] }: RouteOptions) => [onRequest].flat();

/** An `onRoute` hook that makes routes with authentication and a possible body authenticate again after the body. */
export function reverifyAfterBody(route: RouteOptions): void {
  if (!hasBody(route)) return;
  const [reverify] = getGuards(route).flatMap((hook) => getDemand(hook)?.reverifyAfterBody ?? []);
  if (reverify) route.preValidation = [reverify, ...[route.preValidation ?? []].flat()];
}

/** An `onRoute` hook that documents who may call each route, so that the document cannot differ from what the route does. */
export function documentSecurity(route: RouteOptions): void {
  const { schema, method } = route;
  // Fastify adds a route for HEAD with the schema of GET.
  if (!schema || schema.hide === true || method === 'HEAD') return;
  const guards = getGuards(route);
  route.schema = guards.some((hook) => getDemand(hook)?.isAuthentication)
    ? documentDemands(schema, guards)
    : documentPublic(schema, guards);
}
