import { rm } from 'node:fs/promises';
import type { ChildServer } from './child-server.js';
import { sendSignal } from './processes.js';
import type { ServerExit } from './server-process.js';

/** A running server, owned by this process, that can be made to fail and come back on the same port. */
export interface RestartableServer {
  readonly port: number;
  /** Of the present process; another one after a restart. */
  readonly pid: number;
  /** The end of the present process, however it comes. */
  readonly exited: Promise<ServerExit>;
  /** Starts it again after `stop` or `kill`, with the same data. */
  start(): Promise<void>;
  /** An orderly end. Can be called again. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Suspends it: connections stay open, nothing answers. */
  pause(): void;
  resume(): void;
  /** Stops it for good; removes its directory if that is temporary. */
  close(): Promise<void>;
}

/** Wraps a way to launch a server; it has been launched once when this returns. */
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
