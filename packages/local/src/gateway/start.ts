import type { Options } from '../../options.mjs';
import { LaunchError } from '../launch-error.js';
import type { Teardown } from '../teardown.js';
import { createGateway } from './server.js';

/** The time limit, in ms, after which the connections of requests in progress are closed. */
const GATEWAY_DRAIN_MS = 5_000;

/** Starts the gateway in front of the services. @throws LaunchError when its port is taken. */
export async function startGateway(
  upstreams: Parameters<typeof createGateway>[0],
  { options, teardown }: { readonly options: Options; readonly teardown: Teardown },
): Promise<void> {
  const gateway = await createGateway(upstreams, { trustedProxies: options.trustedProxies });
  try {
    await gateway.listen({ port: options.port, host: options.host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new LaunchError(
      `Port ${options.port} was taken by another program meanwhile; --port chooses another.`,
    );
  }
  teardown.add({
    name: 'gateway',
    stop: async () => {
      const cut = setTimeout(() => gateway.server.closeAllConnections(), GATEWAY_DRAIN_MS);
      await gateway.close();
      clearTimeout(cut);
    },
    kill: () => gateway.server.closeAllConnections(),
  });
}
