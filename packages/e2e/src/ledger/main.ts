import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { createCaller } from './calls.js';
import { measureRecovery, planFaults, runFaults } from './faults.js';
import { findAll, openTopic } from './find.js';
import { isSettled, reckon } from './reckon.js';
import { isSound, renderReport } from './report.js';
import { startRig } from './rig.js';
import { startWorkload } from './workload.js';

const HELP = `npm run ledger -- [--minutes 4] [--fault-every 15] [--rate 1] [--no-faults]

Runs two replicas of each service and two crawl workers behind the repository's nginx configuration, over a PostgreSQL,
its own Redis, Kafka and SMTP server, with a workload of every main job. Meanwhile it kills each process,
stops and kills each store, has Redis fail over, and stops the SMTP server. At the end it compares the responses that callers
received with what is stored, was sent and was published. It exits with 1 unless nothing was lost, doubled, or
admitted after a revocation.

  --minutes      how long the workload runs (4)
  --fault-every  seconds from one fault to the next; each comes once in 16 of these (15)
  --rate         factor of the workload; 1 is about 20 requests a second (1)
  --no-faults    the workload alone

What it checks:
  tokens     a token whose creation was confirmed is stored, is accepted by each service and by /mcp until it is
             revoked, and by none once its revocation was confirmed; the audit has each creation and revocation once
  mails      a mail that was answered 200 or 202 arrives once, whatever was repeated with its idempotency key; a mail that
             was refused does not arrive. "Given up" is a mail whose record says so
  runs       a run that was answered 202 ends, and its outcome is stored
  ticks      each minute of a schedule has one run
  events     each completed run has one event in the feed, and at least one copy of it in Kafka
  schedule   of a schedule that is replaced all the time, the write that was confirmed last stands

It needs nginx, envsubst, Java 17 and Maven; a Redis is fetched where there is none.`;

const SECOND = 1_000;
const WARM_UP_MS = 10 * SECOND;
/** Runs, mails and events may follow the end of the workload for so long. */
const SETTLE_MS = 150 * SECOND;

function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      minutes: { type: 'string', default: '4' },
      'fault-every': { type: 'string', default: '15' },
      rate: { type: 'string', default: '1' },
      'no-faults': { type: 'boolean', default: false },
    },
  });
  const read = (name: 'minutes' | 'fault-every' | 'rate'): number => {
    const number = Number(values[name]);
    if (number > 0) return number;
    throw new Error(`--${name} must be a number above 0`);
  };
  return {
    isHelp: values.help === true,
    minutes: read('minutes'),
    faultEveryMs: read('fault-every') * SECOND,
    rate: read('rate'),
    hasFaults: !values['no-faults'],
  };
}

const say = (text: string): boolean =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  if (options.isHelp) {
    process.stdout.write(`${HELP}\n`);
    return true;
  }
  say('starting the platform');
  const rig = await startRig();
  const stop = (): void => void rig.close().then(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    const caller = createCaller(rig.url);
    const workload = await startWorkload(caller, rig.smtp.port, options.rate);
    say(`the workload runs for ${options.minutes} minutes`);
    const untilMs = Date.now() + options.minutes * 60 * SECOND;
    await delay(WARM_UP_MS);
    const faults = await runFaults(
      options.hasFaults ? planFaults(rig) : [],
      { everyMs: options.faultEveryMs, untilMs },
      ({ name, startedAt, mendedAt }) =>
        say(`${name}, for ${((mendedAt - startedAt) / SECOND).toFixed(1)} s`),
    );
    const endedAt = Date.now();
    await workload.stop();

    say('waiting for what is left');
    const topic = await openTopic(rig);
    const { call } = createCaller(rig.url);
    const find = () => findAll(rig, { call }, workload, topic, endedAt);
    const settleUntil = Date.now() + SETTLE_MS;
    let found = await find();
    while (!isSettled(workload.responses, found) && Date.now() < settleUntil) {
      await delay(2 * SECOND);
      found = await find();
    }
    await topic.stop();
    const reckoning = reckon(workload.responses, found);
    const recoveries = measureRecovery(faults, caller.records);
    process.stdout.write(`\n${renderReport(reckoning, caller.records, recoveries, rig.deaths)}\n`);
    return isSound(reckoning);
  } finally {
    await rig.close();
  }
}

main().then(
  (isFine) => process.exit(isFine ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`${error.stack ?? error.message}\n`);
    process.exit(1);
  },
);
