import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Reads until end of file, which comes when the parent is gone, however it went. A server that nobody reaps can
// be signalled for ever, so the end is told by its lock file, which it removes last.
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
 * It is a convenience, not the guarantee: a guard can be killed too, so the next start looks for itself.
 *
 * @returns a function that calls the guard off.
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
