import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { alternate } from '../../load/alternate.js';
import { load } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { onServerCore } from '../../runner/cores.js';
import { startProgram } from '../../servers/process.js';
import { execute, startPostgres } from '../../servers/service.js';
import { here, ROUND_TRIP_MS, startSystem } from './environment.js';
import { letter } from './submission.js';

/*
 * Compares the service as it runs in production, which asks an identity on the other core about every request, with
 * nodemailer alone. Both send to the same sink over STARTTLS (RSA 2048) with AUTH and PIPELINING.
 */
const run = promisify(execFile);

async function sendRaw(
  kind: 'pooled' | 'transport-per-mail',
  { sink, rendered }: Awaited<ReturnType<typeof startSystem>>,
  port: number,
  inFlight: number,
  seconds: number,
): Promise<number> {
  const values = [port, inFlight, seconds].map(String);
  const [command = '', ...args] = onServerCore([process.execPath, here('raw.js'), kind, ...values]);
  const running = run(command, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS: sink.certificate } });
  running.child.stdin?.end(rendered);
  return Number((await running).stdout);
}

/** Starts {@link ./plain-queue.ts} on the server's core, with a new database. */
async function startPlainQueue(
  fixture: Fixture,
  { sink, rendered }: Awaited<ReturnType<typeof startSystem>>,
) {
  const database = 'bench_plain_queue';
  const postgres = await fixture.share(startPostgres);
  await execute(postgres.url(), [`create database ${database}`]);
  const values = [sink.port, sink.certificate, postgres.url(database), rendered];
  return fixture.keep(await startProgram(new URL('plain-queue.js', import.meta.url), 'server', values));
}

export const sends = defineMeasurement({
  title: 'mails through the API against nodemailer alone',
  limitSeconds: 180,
  values: {
    send_vs_raw: {
      bar: { min: 0.4 },
      note: 'mails through the API / pooled nodemailer alone, 20 in flight',
    },
    send_vs_plain_queue: {
      bar: { min: 0.6 },
      note: 'mails through the API / those of a route that stores each, marks it twice and sends it with pooled nodemailer, 20 in flight',
    },
    send_vs_transport_per_mail: {
      bar: { min: 3 },
      note: `mails through the API / nodemailer with a transport per mail, 5 in flight, a round trip of ${ROUND_TRIP_MS} ms`,
    },
    raw: { unit: '/s', note: 'mails of pooled nodemailer alone, 20 in flight' },
    plain_queue: { unit: '/s', note: 'mails of the plain route, 20 in flight' },
    service: { unit: '/s', note: 'mails through the API, 20 in flight' },
  },
  async run(fixture) {
    const system = await fixture.share(startSystem);
    const { port, distantPort } = system.sink;
    const plainQueue = await startPlainQueue(fixture, system);
    const send = async (inFlight: number, seconds: number) =>
      (await load(system.mail.sendUrl, [{ bearer: system.token, body: letter }], { seconds }, inFlight))
        .requestsPerSecond;
    // A change of the configuration replaces the service's pool, so its connections are opened before the load, as in
    // raw.ts.
    const sendTo = async (to: number, inFlight: number, seconds: number) => {
      await system.useSink(to);
      await send(20, 1);
      return send(inFlight, seconds);
    };
    // Until V8 has compiled the hot code, mails take half as long again.
    const { rate, ratio } = await alternate(
      fixture,
      { rounds: 3, warmUpSeconds: 6 },
      {
        raw: (seconds) => sendRaw('pooled', system, port, 20, seconds),
        plainQueue: async (seconds) =>
          (await load(plainQueue.url, [{ bearer: system.token, body: letter }], { seconds }, 20))
            .requestsPerSecond,
        service: (seconds) => sendTo(port, 20, seconds),
        distant: (seconds) => sendTo(distantPort, 5, seconds),
        distantPerMail: (seconds) => sendRaw('transport-per-mail', system, distantPort, 5, seconds),
      },
    );
    return {
      send_vs_raw: ratio('service', 'raw'),
      send_vs_plain_queue: ratio('service', 'plainQueue'),
      send_vs_transport_per_mail: ratio('distant', 'distantPerMail'),
      raw: rate('raw'),
      plain_queue: rate('plainQueue'),
      service: rate('service'),
    };
  },
});
