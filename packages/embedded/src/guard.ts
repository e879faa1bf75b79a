import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Reads until end of file, which comes when the parent has ended, for whatever reason. A server that is never reaped
// can be signalled forever, so its end is detected by its lock file, which it removes last.
const SCRIPT = `
cat >/dev/null
kill -INT "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
while kill -0 "$1" 2>/dev/null && [ -e "$2/postmaster.pid" ]; do sleep 0.1; done
[ -z "$3" ] || rm -rf -- "$2"
`;

interface GuardedServer {
  readonly pid: number;
  readonly dataDir: string;
  /** Remove the directory too. */
  readonly isTemporary: boolean;
}

/**
 * Stops a server when this process dies without having stopped it.
 *
 * The guard is only a convenience, since it can be killed too; the next start also checks for a leftover server.
 *
 * @returns a function that disables the guard.
 */
export function guardServer({ pid, dataDir, isTemporary }: GuardedServer): () => void {
  const args = ['-c', SCRIPT, 'postgres-guard', String(pid), dataDir, isTemporary ? 'remove' : ''];
  const guard = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as Socket).unref();
  return () => void guard.kill('SIGKILL');
}
