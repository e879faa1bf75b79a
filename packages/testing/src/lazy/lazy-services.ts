import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LazyServer } from './containers.js';
import { LAZY_SERVICES_VARIABLE, type LazyService } from './environment.js';
import { startLazyServer } from './sources.js';

/** The part of a test run that starts servers when they are asked for, and stops them in the end. */
export interface LazyServices {
  /** For the environment of Jest's workers. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Answers `GET /kafka` and `GET /redis` of the workers on loopback: the first question starts the server, so a run
 * without such tests pays nothing.
 */
export async function startLazyServices(
  log: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<LazyServices> {
  const started = new Map<LazyService, Promise<LazyServer>>();
  const start = (service: LazyService) => {
    const server = started.get(service) ?? startLazyServer(service, log);
    started.set(service, server);
    return server;
  };
  const desk = createServer((request, response) => {
    start(request.url?.slice(1) as LazyService).then(
      ({ address }) => response.end(address),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  return {
    variables: {
      [LAZY_SERVICES_VARIABLE]: `http://127.0.0.1:${(desk.address() as AddressInfo).port}`,
    },
    async stop() {
      desk.close();
      desk.closeAllConnections();
      const stops = [...started.values()].map(async (starting) => (await starting).stop());
      await Promise.allSettled(stops);
    },
  };
}
