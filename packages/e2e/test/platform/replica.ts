import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';
import { root } from '../deploy/chart.js';
import { type CommandResult, runCommand } from './command.js';

/** One process of a service, which keeps its address when it is restarted. */
export interface Replica {
  readonly url: string;
  /** Resolves when its current process has ended, for whatever reason. */
  readonly exited: Promise<unknown>;
  /**
   * @param changes - variables of its environment that change from now on; undefined removes one.
   * @param outputFile - takes what the process writes, instead of `output`.
   * @throws when the process ends instead of becoming ready.
   */
  start(changes?: NodeJS.ProcessEnv, outputFile?: string): Promise<void>;
  /** Sends SIGTERM and waits for the end of the process. @throws when it does not exit with 0. */
  stop(): Promise<void>;
  /** Sends SIGKILL, so that it cannot shut down in order. */
  kill(): Promise<void>;
  /** Suspends it: it stays connected and answers nothing, until it is resumed or killed. */
  pause(): void;
  resume(): void;
  /** Runs a command of the service, in the environment of the replica. */
  command(...args: string[]): Promise<CommandResult>;
  /** Returns everything that its processes have written. */
  output(): string;
}

/** Creates a replica of the built service; `start` runs it. */
export function createReplica(service: string, port: number, ownEnv: NodeJS.ProcessEnv): Replica {
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let exited: Promise<unknown>;
  let output = '';
  let env = ownEnv;
  return {
    url,
    get exited() {
      return exited;
    },
    async start(changes, outputFile) {
      env = { ...env, ...changes };
      const file = outputFile === undefined ? undefined : openSync(outputFile, 'a');
      const started = spawn(process.execPath, [join(root, 'services', service, 'dist/server.js')], {
        env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), ...env },
        // The IPC channel makes it exit by itself when the test has ended.
        stdio: ['ignore', file ?? 'pipe', file ?? 'pipe', 'ipc'],
      });
      if (file !== undefined) closeSync(file);
      child = started;
      exited = once(started, 'exit');
      for (const stream of [started.stdout, started.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
      await waitFor(
        async () => {
          if (started.exitCode !== null) return true;
          return (await fetch(`${url}/health/ready`)).ok;
        },
        { what: `readiness of ${service}` },
      );
      if (started.exitCode !== null) throw new Error(output);
    },
    async stop() {
      child?.kill('SIGTERM');
      await exited;
      if (child?.exitCode !== 0) throw new Error(`${service} ended with ${child?.exitCode}:\n${output}`);
    },
    async kill() {
      child?.kill('SIGKILL');
      await exited;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    command: (...args) => runCommand(service, args, env),
    output: () => output,
  };
}

/** Migrates the database of a service, and starts a replica of it. */
export async function startReplica(
  service: string,
  port: number,
  ownEnv: NodeJS.ProcessEnv,
): Promise<Replica> {
  const env = { DATABASE_TIMEOUT_MS: '5000', LOG_LEVEL: 'warn', ...ownEnv };
  const { code, stderr } = await runCommand(service, ['migrate'], env);
  if (code !== 0) throw new Error(stderr);
  const replica = createReplica(service, port, env);
  await replica.start();
  return replica;
}
