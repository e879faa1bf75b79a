import { rm } from 'node:fs/promises';
import type { ChildServer, ServerExit } from './child-server.js';
import { sendSignal } from './processes.js';

/** A running server, owned by this process, that tests can stop and start again on the same port. */
export interface RestartableServer {
  readonly port: number;
  /** The pid of the current process, which changes with a restart. */
  readonly pid: number;
  /** Settles when the current process has ended, for whatever reason. */
  readonly exited: Promise<ServerExit>;
  /** Starts it again after `stop` or `kill`, with the same data. */
  start(): Promise<void>;
  /** Shuts the server down in order. Can be called again. */
  stop(): Promise<void>;
  /** Kills the server with SIGKILL. */
  kill(): Promise<void>;
  /** Suspends the server: connections stay open, but nothing answers. */
  pause(): void;
  resume(): void;
  /** Stops it for good, and removes its directory if that is temporary. */
  close(): Promise<void>;
}

/** Wraps a function that launches a server. The server has been launched once when this returns. */
export async function makeRestartable(options: {
  readonly port: number;
  readonly launch: () => Promise<ChildServer>;
  readonly temporaryDir: string | undefined;
}): Promise<RestartableServer> {
  const removeTemporary = async () => {
    if (options.temporaryDir !== undefined) await rm(options.temporaryDir, { recursive: true, force: true });
  };
  let server = await options.launch().catch(async (error: unknown) => {
    await removeTemporary();
    throw error;
  });
  return {
    port: options.port,
    get pid() {
      return server.pid;
    },
    get exited() {
      return server.exited;
    },
    start: async () => void (server = await options.launch()),
    stop: () => server.stop(),
    kill: () => server.kill(),
    pause: () => void sendSignal(server.pid, 'SIGSTOP'),
    resume: () => void sendSignal(server.pid, 'SIGCONT'),
    close: async () => {
      await server.stop();
      await removeTemporary();
    },
  };
}
