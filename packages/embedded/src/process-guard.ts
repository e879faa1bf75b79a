import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Reads until end of file, which comes when the parent has ended, for whatever reason.
const SCRIPT = `
cat >/dev/null
kill -KILL "$1" 2>/dev/null
[ -z "$2" ] || { sleep 0.5; rm -rf -- "$2"; }
`;

/**
 * Kills a server when this process dies without having stopped it. What it had acknowledged is in the operating
 * system's cache, so nothing but the time of a recovery is lost.
 *
 * @returns a function that disables the guard.
 */
export function guardProcess(pid: number | undefined, temporaryDir: string | undefined): () => void {
  if (pid === undefined) return () => undefined;
  const args = ['-c', SCRIPT, 'server-guard', String(pid), temporaryDir ?? ''];
  const guard = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as Socket).unref();
  return () => void guard.kill('SIGKILL');
}
