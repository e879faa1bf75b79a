import type { FastifyInstance } from 'fastify';
import createRouter from 'find-my-way';

/**
 * Tracks which methods each path has, for 405 and its `Allow` header (RFC 9110 §15.5.6). Fastify itself would answer 404
 * for another method of a known path.
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
