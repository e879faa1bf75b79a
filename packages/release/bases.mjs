// Says which bases of the images have been out of date for too long: a pin holds until somebody renews it.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, SetupError } from '../config/setup.mjs';
import { runTool, SERVICES } from './images.mjs';

/** The days for which a base may stay behind its tag. */
const MAX_DAYS = 60;
const DAY_SECONDS = 86_400;
const run = promisify(execFile);

/**
 * @param {readonly {tag: string, digest: string, current: string, pinnedAt: number}[]} bases `current` is the digest that the
 *   tag has in its registry, `pinnedAt` the time of the commit that chose `digest`, in seconds
 * @returns {string[]} a sentence for each base that has been behind for too long
 */
export function describeStaleBases(bases, nowSeconds) {
  return bases
    .filter(({ digest, current }) => digest !== current)
    .map((base) => ({ ...base, days: Math.floor((nowSeconds - base.pinnedAt) / DAY_SECONDS) }))
    .filter(({ days }) => days > MAX_DAYS)
    .map(({ tag, days, current }) => `${tag} was pinned ${days} days ago, and is ${current} today`);
}

/** @throws SetupError when a base has been behind its tag for too long, or its registry does not answer */
export async function assertCurrentBases() {
  const file = `services/${SERVICES[0]}/Dockerfile`;
  const pins = [
    ...(await readFile(join(ROOT, file), 'utf8')).matchAll(/^ARG \w+_IMAGE=(\S+)@(sha256:\S+)$/gm),
  ];
  const bases = await Promise.all(
    pins.map(async ([, tag, digest]) => {
      const { stdout } = await run('git', ['log', '-1', '--format=%ct', `-S${digest}`, '--', file], {
        cwd: ROOT,
      });
      const inspect = ['buildx', 'imagetools', 'inspect', tag, '--format', '{{.Manifest.Digest}}'];
      return { tag, digest, current: (await runTool('docker', inspect)).trim(), pinnedAt: Number(stdout) };
    }),
  );
  if (bases.length === 0) throw new SetupError(`${file} pins no base by digest.`);
  const stale = describeStaleBases(bases, Date.now() / 1_000);
  if (stale.length > 0)
    throw new SetupError(
      `Bases of the images have been out of date for more than ${MAX_DAYS} days:\n${stale.join('\n')}\n\n` +
        'Merge the update that Renovate proposes, or name the new digest in services/*/Dockerfile, and commit it.',
    );
}
