import type { FastifyInstance } from 'fastify';
import createRouter from 'find-my-way';
import { type AppError, toStatusError } from '../errors.js';

interface KnownPath {
  /** The path of the route, with its parameters. */
  readonly url: string;
  readonly methods: readonly string[];
}

/** Returns the 405 with the methods that the path has (RFC 9110 §15.5.6). */
const methodNotAllowed = (methods: readonly string[]): AppError =>
  toStatusError(405, { allow: methods.join(', ') });

/**
 * Tracks which methods each path has, for 405 and its `Allow` header. Fastify itself would answer 404 for another method of a
 * known path, and would take `GET /tokens/self` for `GET /tokens/:id` when `/tokens/self` has only other methods.
 *
 * @returns a function that creates the error for a request without a route.
 */
export function trackAllowedMethods(app: FastifyInstance): (method: string, url: string) => AppError {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    const methods = methodsByUrl.get(route.url) ?? new Set<string>();
    for (const method of [route.method].flat()) methods.add(method);
    methodsByUrl.set(route.url, methods);
  });
  let router: ReturnType<typeof createRouter> | undefined;
  function build(): ReturnType<typeof createRouter> {
    const built = createRouter();
    for (const [url, methods] of methodsByUrl)
      built.on('GET', url, () => undefined, { url, methods: [...methods] } satisfies KnownPath);
    return built;
  }
  function find(url: string): KnownPath | undefined {
    router ??= build();
    return router.find('GET', url.split('?', 1)[0] ?? '/')?.store as KnownPath | undefined;
  }

  app.addHook('onRequest', (request, _reply, done) => {
    const matched = request.routeOptions.url;
    // A route without parameters matches no other path.
    if (matched?.includes('/:')) {
      const known = find(request.url);
      if (known && known.url !== matched && !known.methods.includes(request.method))
        throw methodNotAllowed(known.methods);
    }
    done();
  });
  return (method, url) => {
    const known = find(url);
    return known && !known.methods.includes(method) ? methodNotAllowed(known.methods) : toStatusError(404);
  };
}
