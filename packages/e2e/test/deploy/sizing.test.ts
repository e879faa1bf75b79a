import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './kustomize.js';

/** @returns the values of a suite by name, without units. */
// prettier-ignore
function read(suite: string): Readonly<Record<string, string>> {
  const file = join(root, `packages/bench/results/${suite}.json`);
  const { values } = JSON.parse(readFileSync(file, 'utf8')) as { readonly values: Readonly<Record<string, number>> };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.toLocaleString('en', { maximumSignificantDigits: 4 })]));
}

const auth = read('auth');
const mail = read('mail');
const crawl = read('crawl');
const figures = {
  'identity: authenticated requests with a token, liveness from PostgreSQL each': `${auth.thousand}/s`,
  'identity: the same with 1,000,000 tokens of 100,000 members': `${auth.million}/s`,
  'identity: forged tokens refused': `${auth.forged}/s`,
  'identity: p99 at 50 connections': `${auth.verify_p99} ms`,
  'identity: resident memory, peak': `${auth.resident} MiB`,
  'mail: mails through the API, 20 in flight': `${mail.service}/s`,
  'mail: a mail with 25 MiB of attachments; another request meanwhile, p99': `${mail.large_mail} ms; ${mail.beside_large_p99} ms`,
  'mail: resident memory, peak': `${mail.resident_mib} MiB`,
  'crawl: schedules through HTTP, 16 callers': `${crawl.schedules}/s`,
  'crawl: runs of due schedules, to their events in Kafka': `${crawl.runs_per_second}/s`,
  'crawl: from the due time to the event, p99': `${crawl.tick_to_event_p99_ms} ms`,
  'crawl: restart with 50,000 schedules; all of their jobs made anew': `${crawl.restart_50k_seconds} s; ${crawl.rebuild} s`,
  'crawl: resident memory, peak, 50,000 schedules': `${crawl.resident} MiB`,
};

// prettier-ignore
test('the sizing table shows the results of the benchmarks (renew it with UPDATE_RESULTS=1)', () => {
  const file = join(root, 'k8s/README.md');
  const row = /^\| ((?:identity|mail|crawl): .*?) +\| (.*?) +\|$/gm;
  expect(Object.values(figures).join()).not.toContain('undefined');
  if (process.env.UPDATE_RESULTS) {
    const renew = (_row: string, name: keyof typeof figures) => `| ${name.padEnd(76)} | ${figures[name].padEnd(18)} |`;
    writeFileSync(file, readFileSync(file, 'utf8').replace(row, renew));
  }
  const stated = [...readFileSync(file, 'utf8').matchAll(row)].map(([, name, figure]) => [name, figure] as const);
  expect(Object.fromEntries(stated)).toEqual(figures);
});
