import { randomUUID } from 'node:crypto';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sink } from './sink.js';

/**
 * Writes each batch as a file `<time>-<number>-<random>.ndjson` into a folder. Whoever reads them takes them in the order
 * of their names, and never sees a part of one: a file gets its name when it is complete and on the disk.
 */
export function createFilesSink(folder: string): Sink {
  let count = 0;
  return {
    async write(lines) {
      await mkdir(folder, { recursive: true });
      count += 1;
      const time = new Date().toISOString().replaceAll(/[-:.]/g, '');
      const name = `${time}-${String(count).padStart(9, '0')}-${randomUUID().slice(0, 8)}.ndjson`;
      const partial = join(folder, `.${name}.partial`);
      const file = await open(partial, 'wx');
      try {
        await file.writeFile(lines.map(({ json }) => `${json}\n`).join(''));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, join(folder, name));
      await syncFolder(folder);
    },
  };
}

/** Makes the new name durable, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
