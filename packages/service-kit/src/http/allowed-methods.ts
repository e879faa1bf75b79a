import type { FastifyInstance } from 'fastify';
import createRouter from 'find-my-way';

/**
 * Which methods a path knows, for 405 and its `Allow` (RFC 9110 §15.5.6). Fastify answers 404
 * to a known path with another method.
 *
 * @returns a function from a path to the methods of its route, or undefined for an unknown path.
 */
export function trackAllowedMethods(app: FastifyInstance): (path: string) => readonly string[] | undefined {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    const methods = methodsByUrl.get(route.url) ?? new Set<string>();
    for (const method of [route.method].flat()) methods.add(method);
    methodsByUrl.set(route.url, methods);
  });
  let router: ReturnType<typeof createRouter> | undefined;
  function build(): ReturnType<typeof createRouter> {
    const built = createRouter();
    for (const [url, methods] of methodsByUrl) built.on('GET', url, () => undefined, [...methods]);
    return built;
  }
  return (path) => {
    router ??= build();
    return router.find('GET', path)?.store as readonly string[] | undefined;
  };
}
