import { isAbsolute, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '@platform/crawl-worker';
import { openSink } from '@platform/crawl-worker/documents';
import { crawlSource } from './crawl.js';
import { createFolder } from './folder.js';
import { createRepository } from './git.js';
import { readSettings } from './settings.js';
import type { Source } from './source.js';

const REFUSED_PAUSE_MS = 60_000;
const log = (line: string) => process.stdout.write(`${new Date().toISOString()} ${line}\n`);

/** Returns the path of the folder in the repository, so that nothing is crawled twice; undefined if it is elsewhere. */
function toCrawledPath(repository: string, folder: string | undefined): string | undefined {
  if (folder === undefined || !isAbsolute(repository)) return undefined;
  const path = relative(repository, folder);
  return path === '' || path.startsWith('..') ? undefined : `${path.split(sep).join('/')}/`;
}

/** Crawls until SIGTERM, or until its launcher is gone. */
async function run(): Promise<void> {
  const {
    platformUrl: url,
    platformToken: token,
    sink: sinkAddress,
    sinkToken,
    folder,
    repository,
    cacheDir,
    documentsPerSlice,
  } = readSettings(process.env);
  const sources = new Map<string, Source>();
  if (folder !== undefined) sources.set('files_1', createFolder(folder));
  if (repository !== undefined)
    sources.set(
      'code_1',
      createRepository({
        repository,
        cacheDir,
        without: toCrawledPath(repository, folder),
        environment: process.env,
      }),
    );
  const sink = openSink(sinkAddress, { url, token }, sinkToken);
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => stopping.abort();
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, stop);
  const connectors = [...sources.keys()];
  while (!signal.aborted) {
    await serve({
      url,
      token,
      connectors,
      // There is one folder, and one repository.
      instances: ['default'],
      worker: 'demo-connector',
      signal,
      onError: log,
      async crawl(order, crawlRun) {
        const source = sources.get(order.connector);
        if (!source) throw new Error(`${order.connector} is not configured`);
        return crawlSource(source, { sink, folder: cacheDir, documentsPerSlice }, order, crawlRun);
      },
    }).catch(async (error: Error) => {
      // An administrator may have revoked the token. Ending would only have the process started again at once.
      log(`${error.message}; trying again in ${REFUSED_PAUSE_MS / 1_000} s`);
      await delay(REFUSED_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    });
  }
}

await run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
// The channel of the launcher would keep the process.
process.exit();
