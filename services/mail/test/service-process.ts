import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Starts a built service, and waits until it logs its address, which means that it is ready. */
export async function startService(folder: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [`${folder}/dist/server.js`], {
    env: { PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const { address } = JSON.parse(line) as { address?: { port: number } };
      if (address) resolve(address.port);
    });
    void exited.then((code) => {
      reject(new Error(`${folder} exited with ${code}: ${errors}`));
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
      child.kill(signal);
      await exited;
    },
  };
}
