import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceApp } from '../http/app.js';
import { closeListener, closeServer } from '../http/close-server.js';
import type { Shutdown } from '../shutdown.js';

export interface ServeOptions extends ServiceApp {
  readonly host: string;
  readonly port: number;
  /** The time for which the service keeps serving while it reports "not ready", so that load balancers notice. */
  readonly shutdownDelayMs: number;
  readonly shutdown: Shutdown;
}

/** Listens until the shutdown closes the listener. */
export async function serve(options: ServeOptions): Promise<void> {
  const { app, health, shutdown } = options;
  shutdown.on('unready', 'readiness', async () => {
    health.isStopping = true;
    await delay(options.shutdownDelayMs);
  });
  app.addHook('preClose', () => closeListener(app.server));
  shutdown.on('http', 'listener', () => closeServer(app, options.requests));
  await app.listen({ host: options.host, port: options.port });
}
