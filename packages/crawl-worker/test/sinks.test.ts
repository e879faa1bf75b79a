import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deletion } from '../src/documents/contract.js';
import { createFilesSink } from '../src/documents/files-sink.js';
import { openSink } from '../src/documents/open-sink.js';
import { createSender } from '../src/documents/sender.js';

/* CRAWL-52: where a worker's batches go. */

const { signal } = new AbortController();
const toDeletion = (id: number): Deletion => ({
  connector: 'wiki_1',
  instance: 'default',
  id: String(id),
  deleted: true,
});
const toLines = (...ids: readonly number[]) =>
  ids.map((id) => {
    const line = toDeletion(id);
    const json = JSON.stringify(line);
    return { line, json, bytes: json.length };
  });
const readIds = (ndjson: string): number[] => {
  expect(ndjson).toMatch(/\n$/);
  const lines = ndjson.trimEnd().split('\n');
  return lines.map((line) => Number((JSON.parse(line) as Deletion).id));
};

describe('the sink of an ingest endpoint', () => {
  let server: Server;
  let url: string;
  /** What the endpoint does with one request after the other; then it stores. */
  let answers: ((response: ServerResponse) => void)[];
  let requests: { readonly ids: number[]; readonly token: string | undefined; readonly at: number }[];

  beforeEach(async () => {
    [answers, requests] = [[], []];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const ids = readIds(Buffer.concat(chunks).toString());
        requests.push({ ids, token: request.headers.authorization, at: performance.now() });
        (answers.shift() ?? status(200))(response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/documents`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const status =
    (code: number, headers: Record<string, string> = {}, text = '{}') =>
    (response: ServerResponse) =>
      void response.writeHead(code, headers).end(text);
  const now = { 'retry-after': '0' };
  const open = () => openSink(url, { url: 'http://127.0.0.1:1', token: 'platform' }, 'sink');
  const listIds = () => requests.map(({ ids }) => ids);

  test('repeats the same batch while the endpoint is busy, unavailable or gone', async () => {
    answers = [
      status(429, now),
      status(503, now),
      status(500, now),
      status(408, now),
      // The batch may have been stored: repeating it does no harm.
      (response) => response.destroy(),
    ];
    await open().write(toLines(1, 2), signal);
    expect(listIds()).toEqual(Array.from({ length: 6 }, () => [1, 2]));
    expect(new Set(requests.map(({ token }) => token))).toEqual(new Set(['Bearer sink']));
  });

  test('waits as long as the endpoint asks for, in seconds or until a time', async () => {
    const date = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_000);
    answers = [status(429, { 'retry-after': '2' }), status(503, { 'retry-after': date.toUTCString() })];
    await open().write(toLines(1), signal);
    const [first, second] = requests;
    // Timers may fire a little early.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_950);
    expect(Date.now()).toBeGreaterThan(date.getTime() - 50);
    expect(listIds()).toEqual([[1], [1], [1]]);
  });

  test('sends nothing further while a batch is not stored', async () => {
    const waiting = new Promise<ServerResponse>((resolve) => (answers = [resolve]));
    const sender = createSender({ sink: open(), signal });
    const stored: number[] = [];
    let added = 0;
    const adding = (async () => {
      for (let id = 1; id <= 1_500; id += 1) {
        await sender.add(toDeletion(id));
        added = id;
        if (id % 500 === 0) await sender.mark(() => stored.push(id));
      }
      await sender.flush();
    })();
    const response = await waiting;
    await delay(200);
    // While one batch is being sent, the next one is gathered, and no more.
    expect([requests.length, added < 1_000, stored]).toEqual([1, true, []]);
    status(200)(response);
    await adding;
    expect(listIds().flat()).toEqual(Array.from({ length: 1_500 }, (_, index) => index + 1));
    expect(stored).toEqual([500, 1_000, 1_500]);
  });

  test('sends a batch that is too large in halves, in order', async () => {
    answers = [status(413), status(413), status(200), status(503, now)];
    await open().write(toLines(1, 2, 3, 4, 5), signal);
    expect(listIds()).toEqual([[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [3], [4, 5]]);
    answers = [status(413)];
    await expect(open().write(toLines(6), signal)).rejects.toThrow('The sink answered 413');
  });

  test.each([400, 401, 403, 404])('fails at once with the words of the endpoint: %i', async (code) => {
    answers = [status(code, {}, 'Line 1: /id must be string')];
    await expect(open().write(toLines(1), signal)).rejects.toThrow(
      `The sink answered ${code}: Line 1: /id must be string`,
    );
    expect(requests).toHaveLength(1);
  });

  test('follows no redirect, which would take documents and token elsewhere', async () => {
    answers = [status(307, { location: url })];
    await expect(open().write(toLines(1), signal)).rejects.toThrow('The sink answered 307');
    expect(requests).toHaveLength(1);
  });

  test('stops waiting when the slice is over', async () => {
    const over = new AbortController();
    answers = [
      (response) => {
        status(503, { 'retry-after': '60' })(response);
        response.once('close', () => over.abort(new Error('over')));
      },
    ];
    await expect(open().write(toLines(1), over.signal)).rejects.toThrow();
    expect(requests).toHaveLength(1);
  });

  test("gets the platform's token at the platform's address alone", async () => {
    const platform = { url: new URL('/', url).href, token: 'platform' };
    await openSink(url, platform, undefined).write(toLines(1), signal);
    expect(requests[0]?.token).toBe('Bearer platform');
    const other = url.replace('127.0.0.1', 'localhost');
    for (const address of [other, url.replace('http:', 'https:'), 'http://127.0.0.1:1/documents'])
      expect(() => openSink(address, platform, undefined)).toThrow('SINK_TOKEN is required');
    expect(() => openSink(other, platform, '')).toThrow('SINK_TOKEN is required');
    expect(requests).toHaveLength(1);
  });
});

describe('the sink of a folder', () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'sink-test-'));
    folder = join(parent, 'new', 'documents');
  });
  afterEach(() => rm(parent, { recursive: true }));

  const list = async () => (await readdir(folder)).toSorted();

  test('is read in the order of the names of its files, also after a restart', async () => {
    for (const first of [0, 30]) {
      const sink = createFilesSink(folder);
      for (let id = first; id < first + 30; id += 1) await sink.write(toLines(id), signal);
      // A restart takes longer than a millisecond.
      await delay(5);
    }
    const names = await list();
    expect(names.every((name) => /^[\dTZ]+-\d{9}-\w{8}\.ndjson$/.test(name))).toBe(true);
    const ids = await Promise.all(
      names.map(async (name) => readIds(await readFile(join(folder, name), 'utf8'))),
    );
    expect(ids).toEqual(Array.from({ length: 60 }, (_, id) => [id]));
  });

  test('has no file that is not complete', async () => {
    const sink = createFilesSink(folder);
    const batch = toLines(...Array.from({ length: 20_000 }, (_, id) => id));
    const writing = (async () => {
      for (let count = 0; count < 10; count += 1) await sink.write(batch, signal);
    })();
    const seen = new Set<string>();
    while (seen.size < 10) {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.ndjson'));
      for (const name of names) {
        if (seen.has(name)) continue;
        expect(readIds(await readFile(join(folder, name), 'utf8'))).toHaveLength(20_000);
        seen.add(name);
      }
      await delay(1);
    }
    await writing;
    // Nothing is left of what was not complete.
    expect(await readdir(folder)).toHaveLength(10);
  });

  test('fails rather than losing a batch', async () => {
    await writeFile(join(parent, 'file'), '');
    await expect(createFilesSink(join(parent, 'file')).write(toLines(1), signal)).rejects.toThrow('EEXIST');
  });
});
