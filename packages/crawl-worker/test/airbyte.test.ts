import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runAirbyte } from '../src/airbyte/command.js';
import { createAirbyteCrawl } from '../src/airbyte/crawl.js';
import { createSourceClient, type SourceDefinition } from '../src/airbyte/source.js';
import type { DocumentLine } from '../src/documents/contract.js';
import type { Sink } from '../src/documents/sink.js';
import type { Counters } from '../src/protocol.js';
import { PermanentError } from '../src/run.js';

/* CRAWL-53: what a source may do, against a process that does it. */

const SCRIPT = join(import.meta.dirname, 'fixtures/scripted-source.mjs');
const PASSWORD = 'correct horse battery';

type Step = Readonly<Record<string, unknown>> & { readonly do: string };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'airbyte-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Crawls with orders as the platform gives them; the checkpoint goes from one slice to the next. */
function createCrawler({
  config = {},
  streams = ['pages'],
  stateFolder = folder,
  permissions,
  write,
}: {
  readonly config?: object;
  readonly streams?: readonly string[];
  readonly stateFolder?: string;
  /** What the source does in its mode for permissions, and who is behind the ids in them. */
  readonly permissions?: { readonly steps: readonly Step[]; readonly identities: readonly Step[] };
  readonly write?: Sink['write'];
} = {}) {
  let checkpoint: unknown = null;
  let currentFolder = stateFolder;
  const mapping = { id: 'id', title: '{{ title }}', text: '{{ text }}', permissionsId: 'path' };
  return {
    readCheckpoint: () => checkpoint,
    /** Goes on as another worker, which has another folder. */
    move(other: string): void {
      currentFolder = other;
    },
    async run(
      steps: readonly Step[],
      {
        mode = 'full',
        runId = 'run-1',
        timeUpAfterItems = Infinity,
        signal = new AbortController().signal,
        fullStartedAt = '2026-01-01T00:00:00.000Z',
      }: {
        readonly mode?: 'full' | 'incremental';
        readonly runId?: string;
        readonly timeUpAfterItems?: number;
        readonly signal?: AbortSignal;
        readonly fullStartedAt?: string;
      } = {},
    ) {
      const definition: SourceDefinition = {
        connector: 'wiki_1',
        instance: 'default',
        command: `'${process.execPath}' '${SCRIPT}'`,
        config: { login: { pass: PASSWORD }, steps, ...config },
        streams: Object.fromEntries(streams.map((name) => [name, mapping])),
        access: permissions ? undefined : [{ kind: 'group', id: 'staff' }],
        ...(permissions && { permissions }),
        folder: currentFolder,
        environment: process.env,
      };
      const lines: DocumentLine[] = [];
      const log: string[] = [];
      const counters: Counters = { items: 0, deleted: 0, failed: 0, bytes: 0 };
      let progress = 0;
      const sink: Sink = {
        async write(batch, writeSignal) {
          await write?.(batch, writeSignal);
          lines.push(...batch.map(({ line }) => line));
        },
      };
      const order = {
        runId,
        attempt: 1,
        orgId: 'o',
        connector: 'wiki_1',
        instance: 'default',
        displayName: null,
        userId: 'u',
        scheduleConfig: {},
        priority: 5,
        metadata: {},
        scheduledFor: '2026-01-02T00:00:00.000Z',
        mode,
        fullStartedAt,
        checkpoint,
      };
      const outcome = await createAirbyteCrawl(
        definition,
        createSourceClient(definition),
        sink,
        1_000,
      )(order, {
        signal,
        isCancelled: () => signal.aborted,
        isTimeUp: () => counters.items >= timeUpAfterItems,
        progress: (percent) => void (progress = percent),
        count(more) {
          for (const [name, value] of Object.entries(more))
            Object.assign(counters, { [name]: counters[name as keyof Counters] + value });
        },
        checkpoint: (value) => void (checkpoint = JSON.parse(JSON.stringify(value))),
        log: (line) => void log.push(line),
        describe: () => undefined,
      }).then(
        (value) => ({ value, error: undefined }),
        (error: Error) => ({ value: undefined, error }),
      );
      const ids = lines.flatMap((line) => ('id' in line && 'text' in line ? [line.id] : []));
      return { ...outcome, lines, ids, log, counters, progress };
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => `pages/${index + 1}`);
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a full crawl brings every record as a document, and ends with its completion', async () => {
  const { error, lines, counters, progress } = await createCrawler().run([
    { do: 'estimate', rows: 2 },
    { do: 'records', count: 2 },
    { do: 'state', value: 2 },
    { do: 'status', status: 'COMPLETE' },
  ]);
  expect(error).toBeUndefined();
  const origin = { connector: 'wiki_1', instance: 'default', runId: 'run-1' };
  const fullCrawl = '2026-01-01T00:00:00.000Z';
  expect(lines).toEqual([
    ...[1, 2].map((id) => ({
      ...origin,
      id: `pages/${id}`,
      title: `Page ${id}`,
      text: `Text of ${id}`,
      mimeType: 'text/plain',
      access: [{ kind: 'group', id: 'staff' }],
      fullCrawl,
    })),
    { ...origin, complete: true, fullCrawl },
  ]);
  expect(counters).toMatchObject({ items: 2, deleted: 0, failed: 0 });
  expect(progress).toBe(99);
});

test('the next run gets the state as the source has written it, whatever its numbers', async () => {
  const crawler = createCrawler();
  const value = '{"big":123456789012345678901,"float":1.0}';
  await crawler.run([
    { do: 'records', count: 1 },
    { do: 'state', value },
  ]);
  const { log, lines } = await crawler.run([{ do: 'echo' }], { mode: 'incremental', runId: 'run-2' });
  expect(log.join()).toContain(value);
  expect(lines).toEqual([]);
});

test('a large id is not rounded, and several fields are kept apart', async () => {
  const { lines } = await createCrawler().run([
    {
      do: 'raw',
      text: '{"type":"RECORD","record":{"stream":"pages","data":{"id":12345678901234567891,"title":"a","text":"b"}}}',
    },
  ]);
  expect(lines[0]).toMatchObject({ id: 'pages/12345678901234567891' });
});

test('sets no checkpoint before the sink has stored what comes before its state', async () => {
  let isStored = false;
  let early: unknown;
  const crawler = createCrawler({
    async write() {
      await delay(300);
      if (!isStored) early = crawler.readCheckpoint();
      isStored = true;
    },
  });
  await crawler.run([
    { do: 'records', count: 3 },
    { do: 'state', value: 3 },
  ]);
  expect([isStored, early]).toEqual([true, null]);
  expect(JSON.stringify(crawler.readCheckpoint())).toContain('3');
});

test('exit code 1 after a state fails the attempt, which continues from that state', async () => {
  const crawler = createCrawler();
  const { error } = await crawler.run([
    { do: 'records', count: 2 },
    { do: 'state', value: 2 },
    { do: 'records', from: 3, count: 1 },
    { do: 'exit', code: 1 },
  ]);
  expect(error?.message).toBe('The source ended with exit code 1');
  const { log } = await crawler.run([{ do: 'echo' }]);
  expect(log[0]).toContain('"value":2');
});

test.each([
  ['config_error', true],
  ['transient_error', false],
])('fails with the message of the source, without secrets: %s', async (kind, isPermanent) => {
  const { error, log } = await createCrawler().run([
    { do: 'log', level: 'WARN', message: `trying ${PASSWORD} and ${encodeURIComponent(PASSWORD)}` },
    { do: 'error', message: `The password ${PASSWORD} is wrong`, kind },
    { do: 'exit', code: 1 },
  ]);
  expect(error?.message).toBe('The password *** is wrong');
  expect(error instanceof PermanentError).toBe(isPermanent);
  expect(log).toContain('WARN: trying *** and ***');
});

test('goes on past garbage, and floods of stderr, and counts what may have been a record', async () => {
  const { error, ids, counters, log } = await createCrawler().run([
    { do: 'raw', text: 'Loading…' },
    { do: 'raw', text: '{"type":"RECORD","record":{"stream":"pages","da' },
    { do: 'raw', text: 'null' },
    { do: 'stderr', megabytes: 20 },
    { do: 'records', count: 50 },
  ]);
  expect(error).toBeUndefined();
  expect(ids).toEqual(upTo(50));
  expect(counters).toMatchObject({ items: 50, failed: 1 });
  expect(log.join()).toContain('The source has printed: Loading…');
});

test('a record that cannot be mapped is named, and keeps its last text; more than 5 % of them end the crawl', async () => {
  const bad = { do: 'record', data: { title: 'no id' } };
  const few = await createCrawler().run([{ do: 'records', count: 50 }, bad]);
  expect(few.error).toBeUndefined();
  expect(few.log).toContain('pages: a record failed: the field id of the id is missing');
  // Nothing may be dropped for not being seen, since nobody knows which one it was.
  expect(few.lines.some((line) => 'complete' in line)).toBe(false);
  const many = await createCrawler().run([
    { do: 'records', count: 300 },
    ...Array.from({ length: 20 }, () => bad),
    { do: 'wait', ms: 60_000 },
  ]);
  expect(many.error?.message).toBe('16 of 316 records failed, which is more than 5 %');
});

test('a text of 20 MB is cut to what the contract allows', async () => {
  const { error, lines, log } = await createCrawler().run([
    { do: 'large', id: 1, megabytes: 20 },
    { do: 'records', count: 20 },
  ]);
  expect(error).toBeUndefined();
  expect(lines[0]).toMatchObject({ id: 'pages/1', text: 'x'.repeat(2_000_000) });
  expect(log).toContain('pages: the text of pages/1 is too long, and was cut.');
});

test.each([
  ['compressed', 40, 0],
  ['in a file of the worker', 1_024, 1],
])('keeps a large state: %s', async (_how, kilobytes, files) => {
  const crawler = createCrawler();
  await crawler.run([
    { do: 'records', count: 1 },
    { do: 'state', value: 7, kilobytes },
  ]);
  expect(JSON.stringify(crawler.readCheckpoint()).length).toBeLessThan(65_536);
  const kept = await readdir(join(folder, 'wiki_1/default')).catch(() => []);
  expect(kept).toHaveLength(files);
  const { log } = await crawler.run([{ do: 'echo' }], { mode: 'incremental', runId: 'run-2' });
  expect(log.join()).toContain('"value":7');
});

test('a worker without the file of the state crawls everything, and drops what is gone', async () => {
  const crawler = createCrawler();
  await crawler.run([
    { do: 'records', count: 3 },
    { do: 'state', value: 1, kilobytes: 1_024 },
  ]);
  crawler.move(join(folder, 'other'));
  const { log, lines } = await crawler.run([{ do: 'echo' }, { do: 'records', count: 2 }], {
    mode: 'incremental',
    runId: 'run-2',
  });
  expect(log[0]).toContain('everything is crawled again');
  expect(log.join()).toContain('started with no state');
  // Later than the last full crawl, and by the clock of the platform.
  const fullCrawl = '2026-01-02T00:00:00.000Z';
  expect(lines.map((line) => ('fullCrawl' in line ? line.fullCrawl : ''))).toEqual([
    fullCrawl,
    fullCrawl,
    fullCrawl,
  ]);
  expect(lines.at(-1)).toMatchObject({ complete: true });
});

test('a slice whose time is up ends after the next state, with everything that it has started', async () => {
  const crawler = createCrawler({ config: { isDeaf: true } });
  const { value, log, ids } = await crawler.run(
    [
      { do: 'child' },
      { do: 'records', count: 2 },
      { do: 'state', value: 2 },
      { do: 'wait', ms: 1_900 },
      { do: 'records', from: 3, count: 1 },
      { do: 'state', value: 3 },
      { do: 'wait', ms: 60_000 },
    ],
    { timeUpAfterItems: 2 },
  );
  expect(value).toBe('continue');
  expect(ids).toEqual(upTo(3));
  expect(isAlive(Number(/child (\d+)/.exec(log.join())?.[1]))).toBe(false);
  expect((await crawler.run([{ do: 'echo' }])).log[0]).toContain('"value":3');
});

test('a slice without a state in its time fails, and says what to do', async () => {
  const { error } = await createCrawler().run(
    [
      { do: 'records', count: 2 },
      { do: 'wait', ms: 60_000 },
    ],
    { timeUpAfterItems: 2 },
  );
  expect(error?.message).toContain('raise the timeout of the schedule');
});

test('a cancelled crawl of a silent source ends', async () => {
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(), 200);
  const startedAt = performance.now();
  await createCrawler().run([{ do: 'wait', ms: 60_000 }], { signal: stopping.signal });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});

test('a slice does not read again the streams that the run has completed', async () => {
  const crawler = createCrawler({ streams: ['pages', 'notes'] });
  await crawler.run([
    { do: 'records', stream: 'notes', count: 1 },
    { do: 'status', stream: 'notes', status: 'COMPLETE' },
    { do: 'exit', code: 1 },
  ]);
  expect((await crawler.run([{ do: 'streams' }])).log).toContain('INFO: reads pages');
  // Another run reads them all.
  expect((await crawler.run([{ do: 'streams' }], { runId: 'run-2' })).log).toContain(
    'INFO: reads pages,notes',
  );
});

test('a stream that the source does not complete fails the attempt', async () => {
  const { error, lines } = await createCrawler().run([
    { do: 'records', count: 1 },
    { do: 'status', status: 'INCOMPLETE' },
  ]);
  expect(error?.message).toBe('The source did not complete pages');
  expect(lines.some((line) => 'complete' in line)).toBe(false);
});

test('a slow sink makes the source wait', async () => {
  const end = join(folder, 'end');
  let isEarly: boolean | undefined;
  const crawler = createCrawler({
    async write() {
      if (isEarly !== undefined) return;
      await delay(2_000);
      isEarly = existsSync(end);
    },
  });
  // 60 MB, of which a few batches and what fits into the pipe are under way at once.
  const text = 'y'.repeat(10_000);
  const { error, counters } = await crawler.run([
    { do: 'records', count: 6_000, text },
    { do: 'touch', path: end },
  ]);
  expect(error).toBeUndefined();
  expect([isEarly, existsSync(end), counters.items]).toEqual([false, true, 6_000]);
});

describe('a source that gives the permissions of its files', () => {
  const identity = (data: object): Step => ({ do: 'record', stream: 'identities', data });
  const identities = [
    identity({ remote_id: 'ada@a.com', type: 'user', email_address: 'ada@a.com' }),
    identity({ remote_id: 'u-2', type: 'user', email_address: 'Bob@a.com' }),
    identity({
      remote_id: 'board@a.com',
      type: 'group',
      email_address: 'board@a.com',
      member_email_addresses: ['ada@a.com', 'Cyd@a.com'],
    }),
  ];
  const allow = (path: string, allowed: readonly (string | null)[], more: object = {}): Step => ({
    do: 'record',
    data: {
      id: `f-${path}`,
      path,
      allowed_identity_remote_ids: allowed,
      publicly_accessible: false,
      ...more,
    },
  });
  const complete = { do: 'status', status: 'COMPLETE' };
  const content = [{ do: 'records', count: 2 }, { do: 'state', value: 7 }, complete];

  test('brings documents for nobody, and then who may find each; groups are their members, too', async () => {
    const steps = [
      allow('1', ['board@a.com', 'u-2', null, 'unknown']),
      allow('2', [], { publicly_accessible: true }),
      allow('3', ['board@a.com', 'eve@b.com'], { denied_identity_remote_ids: ['ada@a.com'] }),
      { do: 'state', value: 1 },
      complete,
    ];
    const crawler = createCrawler({ permissions: { steps, identities } });
    const { error, lines, counters } = await crawler.run(content);
    expect(error).toBeUndefined();
    const [first, second, ...others] = lines;
    expect([first, second]).toMatchObject([
      { id: 'pages/1', text: 'Text of 1', access: 'separate' },
      { id: 'pages/2', access: 'separate' },
    ]);
    const user = (id: string) => ({ kind: 'user', id });
    const access = [
      [{ kind: 'group', id: 'board@a.com' }, user('ada@a.com'), user('cyd@a.com'), user('bob@a.com')],
      [{ kind: 'everyone' }],
      [user('cyd@a.com'), user('eve@b.com')],
    ];
    const origin = { connector: 'wiki_1', instance: 'default', runId: 'run-1' };
    const changes = access.map((list, index) => ({
      ...origin,
      id: `pages/${index + 1}`,
      access: list,
      accessOnly: true,
    }));
    const completion = { ...origin, complete: true, fullCrawl: '2026-01-01T00:00:00.000Z' };
    expect(others).toEqual([...changes, completion]);
    expect(counters.items).toBe(2);
    // The next run reads all permissions again, and of the content what has changed.
    const next = await crawler.run([{ do: 'echo' }], { mode: 'incremental', runId: 'run-2' });
    expect(next.log.join()).toMatch(/started with \[.*"value":7/);
    expect(next.lines).toEqual(changes.map((change) => ({ ...change, runId: 'run-2' })));
  });

  test('is told so by an option, instead of the access', async () => {
    const write = async (name: string, value: object) => {
      await writeFile(join(folder, name), JSON.stringify(value));
      return join(folder, name);
    };
    const mapping = { id: 'id', title: '{{ title }}', text: '{{ text }}', permissionsId: 'path' };
    // oxfmt-ignore
    const args = [
      '--connector', 'files_1', '--source', `'${process.execPath}' '${SCRIPT}'`, '--dry-run', '1',
      '--config', await write('content.json', { steps: content }),
      '--permissions', await write('permissions.json', { steps: [], identities }),
      '--documents', await write('documents.json', { streams: { pages: mapping } }),
    ];
    let printed = '';
    const run = (...more: string[]) =>
      runAirbyte([...args, ...more], process.env, (text) => void (printed += text));
    expect(await run()).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({ id: 'pages/1', access: 'separate' });
    await expect(run('--access', 'everyone')).rejects.toThrow('say either access or permissions');
  });

  test('goes on with the permissions that an earlier attempt has not read, and reads no content again', async () => {
    const failing: Step[] = [
      allow('1', ['u-2']),
      { do: 'state', value: 1 },
      { do: 'wait', ms: 1_500 },
      { do: 'exit', code: 1 },
    ];
    const permissions = { steps: failing, identities };
    const crawler = createCrawler({ permissions });
    const failed = await crawler.run(content);
    expect(failed.error?.message).toMatch(/exit code 1/);
    expect(failed.lines.at(-1)).toMatchObject({ id: 'pages/1', accessOnly: true });
    permissions.steps = [{ do: 'echo' }, allow('2', ['u-2']), complete];
    const { error, lines, log } = await crawler.run([{ do: 'exit', code: 9 }]);
    expect(error).toBeUndefined();
    expect(log.join()).toMatch(/started with \[.*"value":1/);
    expect(lines).toMatchObject([{ id: 'pages/2', accessOnly: true }, { complete: true }]);
  });

  test('fails the attempt when the people cannot be read, and shows the documents to nobody', async () => {
    const broken = [{ do: 'error', message: 'not an administrator', kind: 'config_error' }];
    const crawler = createCrawler({ permissions: { steps: [], identities: broken } });
    const { error, lines } = await crawler.run(content);
    expect(error).toBeInstanceOf(PermanentError);
    expect(error?.message).toBe('not an administrator');
    expect(lines).toMatchObject([{ access: 'separate' }, { access: 'separate' }]);
  });
});
