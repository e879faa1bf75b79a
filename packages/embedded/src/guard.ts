import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Each script reads until end of file, which comes when the parent has ended, for whatever reason. Its arguments are the
// pid of the server, the data directory, and what to remove at the end.
// A server that is never reaped can be signalled forever, so the end of PostgreSQL is detected by its lock file, which it
// removes last.
const STOP_POSTGRES = `
cat >/dev/null
kill -INT "$1" 2>/dev/null
kill -CONT "$1" 2>/dev/null
while kill -0 "$1" 2>/dev/null && [ -e "$2/postmaster.pid" ]; do sleep 0.1; done
[ -z "$3" ] || rm -rf -- "$3"
`;
// What the server had acknowledged is in the operating system's cache, so only the time of a recovery is lost.
const KILL = `
cat >/dev/null
kill -KILL "$1" 2>/dev/null
[ -z "$3" ] || { sleep 0.5; rm -rf -- "$3"; }
`;

interface GuardedServer {
  /** Undefined when the server could not be started. */
  readonly pid: number | undefined;
  /** The data directory of PostgreSQL, which is stopped in an orderly way. Other servers are killed. */
  readonly postgresDir?: string;
  /** A directory to remove afterwards. */
  readonly temporaryDir: string | undefined;
}

/**
 * Ends a server when this process dies without having ended it.
 *
 * The guard is only a convenience, since it can be killed too; the next start of PostgreSQL also checks for a leftover
 * server.
 *
 * @returns a function that disables the guard.
 */
export function guardServer({ pid, postgresDir, temporaryDir }: GuardedServer): () => void {
  if (pid === undefined) return () => undefined;
  const script = postgresDir === undefined ? KILL : STOP_POSTGRES;
  const args = ['-c', script, 'server-guard', String(pid), postgresDir ?? '', temporaryDir ?? ''];
  const guard = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as Socket).unref();
  return () => void guard.kill('SIGKILL');
}
