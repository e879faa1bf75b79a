import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from '@platform/testing';
import { root } from '../deploy/kustomize.js';
import { type CommandResult, runCommand } from './command.js';

/** One process of a service, which keeps its address when it is started again. */
export interface Replica {
  readonly url: string;
  /**
   * @param changes - variables of its environment that are others from here on.
   * @throws when the process ends instead of being ready.
   */
  start(changes?: NodeJS.ProcessEnv): Promise<void>;
  /** SIGTERM, and the end of the process. @throws when it doesn't end well. */
  stop(): Promise<void>;
  /** SIGKILL: no farewell. */
  kill(): Promise<void>;
  /** It stays connected and answers nothing; only `kill` ends that. */
  pause(): void;
  /** A command of the service, in the environment of the replica. */
  command(...args: string[]): Promise<CommandResult>;
  /** All that its processes have written. */
  output(): string;
}

/** Makes a replica of the built service; `start` runs it. */
export function createReplica(service: string, port: number, ownEnv: NodeJS.ProcessEnv): Replica {
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess;
  let exited: Promise<unknown>;
  let output = '';
  let env = ownEnv;
  return {
    url,
    async start(changes) {
      env = { ...env, ...changes };
      child = spawn(process.execPath, [join(root, 'services', service, 'dist/server.js')], {
        env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), ...env },
        // The channel: it ends by itself when the test has gone.
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      exited = once(child, 'exit');
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
      await waitFor(
        async () => {
          if (child.exitCode !== null) return true;
          return (await fetch(`${url}/health/ready`)).ok;
        },
        { what: `readiness of ${service}`, timeoutMs: 40_000 },
      );
      if (child.exitCode !== null) throw new Error(output);
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
      if (child.exitCode !== 0) throw new Error(`${service} ended with ${child.exitCode}:\n${output}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    pause: () => void child.kill('SIGSTOP'),
    command: (...args) => runCommand(service, args, env),
    output: () => output,
  };
}
