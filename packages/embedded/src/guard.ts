import { spawn } from 'node:child_process';

// Reads until end of file, which comes when the parent is gone, however it went.
const SCRIPT = `
cat >/dev/null
kill -INT "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
[ -z "$2" ] || rm -rf -- "$2"
`;

/**
 * Stops a server when this process dies without having stopped it, and removes its directory if asked to.
 *
 * It is a convenience, not the guarantee: a guard can be killed too, so the next start looks for itself.
 *
 * @returns a function that calls the guard off.
 */
export function guardServer(pid: number, removeDir?: string): () => void {
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'postgres-guard', String(pid), removeDir ?? ''], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  return () => void guard.kill('SIGKILL');
}
