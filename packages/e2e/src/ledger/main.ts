import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { ensureKafkaJars, readCacheDir } from '@platform/embedded';
import { createCaller } from './calls.js';
import { checkHistory, measureRecovery } from './check.js';
import { runFaults } from './faults.js';
import { createFinder, openTopic } from './find.js';
import { type History, openHistory } from './history.js';
import { describeFault, planFaults, renderPlan } from './plan.js';
import { isSettled, reckon } from './reckon.js';
import { isSound, renderReport } from './report.js';
import { type Rig, startRig } from './rig.js';
import { startWorkload } from './workload.js';

const HELP = `npm run ledger -- [--minutes 4] [--seed N[,N…]] [--calm S] [--rate 1] [--no-faults]
                  [--plan-only] [--history FILE] [--report FILE]

Runs two replicas of each service and two crawl workers behind the repository's nginx configuration, over a PostgreSQL, a
Redis with a replica, a Kafka of two brokers and an SMTP server of its own, with a workload of every main job. Meanwhile
it brings faults about, as a seed decides. At the end it checks what callers were answered, operation by operation, and
compares it with what is stored, was sent and was published. It exits with 1 unless all of it is sound.

  --minutes    how long the workload runs (4)
  --seed       decides the faults and the choices of the workload; several seeds share the time (a random one)
  --calm       seconds from the end of a fault to the next one (8; 25 from 5 minutes a seed)
  --rate       factor of the workload; 1 is about 20 requests a second (1)
  --no-faults  the workload alone
  --plan-only  prints the faults, and runs nothing
  --history    where to keep every operation, as lines of JSON; it is always kept when something is wrong
  --report     where to write the report, a page of Markdown, which is printed as well

Faults:
  kill         a process, with SIGKILL
  pause        a process, with SIGSTOP, for up to 40 s: it goes on in the belief that it has its leases
  clock        of one process, five minutes ahead or behind
  disk full    of the log of one process
  store        PostgreSQL, Redis, or a broker of Kafka is killed or stopped; the partitions of a broker get another leader
  fail over    Redis, to its replica
  stop SMTP    the SMTP server
  slow, cut, half-open   connections to PostgreSQL (of all processes or of one), Redis, Kafka, the SMTP server, and among
               the services: each chunk is delayed; both ends are reset; bytes are accepted and go nowhere

What it checks:
  tokens       a token whose creation was confirmed is stored, is accepted by each service and by /mcp until its revocation
               begins, and by none by a request that began after its revocation was confirmed; the audit has each once
  mails        a mail that was answered 200 or 202 arrives once, whatever was repeated with its idempotency key; a mail
               that was refused does not arrive. "Given up" is a mail whose record says so
  runs         a run that was answered 202 ends, and its outcome is stored
  ticks        each minute of a schedule has one run
  events       each completed run has one event in the feed, and at least one copy of it in Kafka, in the same order
  schedule     reads and writes of a schedule that is replaced all the time are linearizable
  checkpoint   and so are those of a checkpoint; nothing is stored under a lease once a later claim was answered
  failures     nothing fails with 5xx, or without a response, from 15 s after a fault on until the next one

It needs nginx, envsubst, redis-server, libfaketime (package faketime), Java 17 and Maven.`;

const SECOND = 1_000;
/** Runs, mails and events may follow the end of the workload for so long. */
const SETTLE_MS = 150 * SECOND;
const COLLECT_EVERY_MS = 60 * SECOND;
/** A long run has time to see whether requests fail without a reason; a short one has more faults. */
const CALM_SECONDS = { short: 8, long: 25 };
const LONG_SECONDS = 300;

function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      minutes: { type: 'string', default: '4' },
      seed: { type: 'string', default: String(randomInt(1, 1_000_000_000)) },
      calm: { type: 'string' },
      rate: { type: 'string', default: '1' },
      'no-faults': { type: 'boolean', default: false },
      'plan-only': { type: 'boolean', default: false },
      history: { type: 'string' },
      report: { type: 'string' },
    },
  });
  const read = (name: string, text: string): number => {
    const number = Number(text);
    if (number > 0) return number;
    throw new Error(`--${name} must be a number above 0, not ${text}`);
  };
  const seeds = values.seed.split(',').map(Number);
  if (!seeds.every((seed) => Number.isSafeInteger(seed) && seed > 0))
    throw new Error(`--seed must be whole numbers above 0, with commas between them, not ${values.seed}`);
  const minutes = read('minutes', values.minutes);
  const isLong = (minutes * 60) / seeds.length >= LONG_SECONDS;
  const calmSeconds =
    values.calm === undefined ? CALM_SECONDS[isLong ? 'long' : 'short'] : read('calm', values.calm);
  const rate = read('rate', values.rate);
  return {
    isHelp: values.help === true,
    minutes,
    seeds,
    rate,
    calmSeconds,
    faults: values['no-faults'] ? [] : planFaults(seeds, { seconds: minutes * 60, calmSeconds }),
    isPlanOnly: values['plan-only'],
    historyFile: values.history,
    reportFile: values.report,
    command: [
      `npm run ledger -- --minutes ${minutes} --seed ${seeds.join()} --calm ${calmSeconds}`,
      ...(rate === 1 ? [] : [`--rate ${rate}`]),
      ...(values['no-faults'] ? ['--no-faults'] : []),
    ].join(' '),
  };
}
type Options = ReturnType<typeof readOptions>;

const say = (text: string): boolean =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options.isHelp) {
    process.stdout.write(`${HELP}\n`);
    return true;
  }
  say(`seed ${options.seeds.join()}; to repeat it: ${options.command}`);
  process.stdout.write(`${renderPlan(options.faults)}\n`);
  if (options.isPlanOnly) return true;
  say('starting the platform');
  const rig = await startRig();
  const stop = (): void => void rig.close().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const history = openHistory(
    options.historyFile ?? join(tmpdir(), `ledger-${options.seeds.join('-')}-${Date.now()}.jsonl`),
  );
  try {
    const isFine = await keepLedger(rig, history, options);
    await history.close();
    if (isFine && options.historyFile === undefined) await rm(history.file);
    return isFine;
  } finally {
    await rig.close();
  }
}

async function keepLedger(rig: Rig, history: History, options: Options): Promise<boolean> {
  const caller = createCaller(rig.url, history);
  const { rate, minutes, seeds, command } = options;
  const workload = await startWorkload(caller, { smtpPort: rig.smtpPort, seed: seeds[0] ?? 0, rate });
  say(`the workload runs for ${minutes} minutes`);
  const startedAt = Date.now();
  const finder = createFinder(rig, caller, workload);
  // What can't be read during a fault is read the next time.
  const collecting = setInterval(() => void finder.collectRuns().catch(() => undefined), COLLECT_EVERY_MS);
  const faults = await runFaults(
    rig,
    options.faults,
    { startedAt, untilMs: startedAt + minutes * 60 * SECOND, calmSeconds: options.calmSeconds },
    (fault) => {
      history.addFault(fault);
      say(
        `${describeFault(fault)}: mended after ${((fault.mendedAt - fault.startedAt) / SECOND).toFixed(1)} s`,
      );
    },
  );
  clearInterval(collecting);
  const endedAt = Date.now();
  await workload.stop();

  say('waiting for what is left');
  const topic = await openTopic(rig);
  const settleUntil = Date.now() + SETTLE_MS;
  let found = await finder.findAll(topic, endedAt);
  while (!isSettled(workload.responses, found) && Date.now() < settleUntil) {
    await Promise.all([delay(2 * SECOND), workload.pullOnce()]);
    found = await finder.findAll(topic, endedAt);
  }
  await topic.stop();
  await workload.readOnce();
  const results = {
    reckoning: reckon(workload.responses, found),
    findings: checkHistory(history.operations, faults, found),
    deaths: rig.deaths,
  };
  const isFine = isSound(results);
  const report = renderReport({
    ...results,
    operations: history.operations,
    recoveries: measureRecovery(faults, history.operations),
    startedAt,
    minutes,
    seeds,
    command,
    versions: await findVersions(rig),
    historyFile: isFine && options.historyFile === undefined ? undefined : history.file,
  });
  process.stdout.write(`\n${report}`);
  if (options.reportFile !== undefined) await writeFile(options.reportFile, report);
  return isFine;
}

async function findVersions(rig: Rig): Promise<Record<string, string>> {
  const run = promisify(execFile);
  const [nginx, commit, changes] = await Promise.all([
    run('nginx', ['-v']),
    run('git', ['rev-parse', 'HEAD']),
    run('git', ['status', '--porcelain']),
  ]).then((results) => results.map(({ stdout, stderr }) => (stdout || stderr).trim()));
  return {
    commit: `${commit}${changes ? ', with changes' : ''}`,
    Node: process.version,
    ...(await rig.findStoreVersions()),
    Kafka: basename(await ensureKafkaJars(readCacheDir())).replace('kafka-', ''),
    nginx: /nginx\/(\S+)/.exec(nginx ?? '')?.[1] ?? 'unknown',
  };
}

main().then(
  (isFine) => process.exit(isFine ? 0 : 1),
  (error: Error) => {
    process.stderr.write(
      `${error.stack ?? error.message}\n${error.cause instanceof Error ? error.cause.stack : ''}\n`,
    );
    process.exit(1);
  },
);
