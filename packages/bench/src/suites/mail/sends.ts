import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { onServerCore } from '../../cores.js';
import { send, startBenchIdentity } from '../../identity.js';
import { load } from '../../load.js';
import type { ServiceProcess } from '../../service-process.js';
import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { type Fixture, here, ROUND_TRIP_MS, SECRET, startFixture, startMail } from './processes.js';
import { letter, smtp } from './submission.js';

/*
 * Compares the service as it runs in production, which asks an identity on the other core about every request, with
 * nodemailer alone. Both send to the same sink, alternately, and the medians are compared.
 */
const ROUNDS = 3;
/** The first few thousand mails take half as long again, until V8 has compiled the hot code. */
const WARM_UP_SECONDS = 12;
const run = promisify(execFile);

export interface Environment {
  readonly fixture: Fixture;
  readonly mail: ServiceProcess;
  readonly token: string;
  /** Makes the service submit all further mails to this port. */
  useSink(port: number): Promise<void>;
  /** The rendered mail as JSON, which nodemailer alone sends too. */
  readonly ready: string;
  stop(): Promise<void>;
}

/** All processes on a mail's way, and a token with `SEND_MAIL`. */
export async function prepare(): Promise<Environment> {
  const fixture = await startFixture();
  const identity = await startBenchIdentity(
    fixture.postgres,
    'bench_identity',
    { SERVICE_CLIENTS: `mail:${SECRET}` },
    'load',
  );
  const configurationUrl = `${identity.url}/api/v1/configurationManager/smtpConfig`;
  const configure = (port: number) => send(configurationUrl, 'POST', identity.session, { ...smtp, port });
  await configure(fixture.sinkPort);
  const created = await send(`${identity.url}/api/v1/personal-access-tokens`, 'POST', identity.session, {
    name: 'bench',
    scopes: ['SEND_MAIL', 'FETCH_CONFIG'],
  });
  const { accessToken: token } = (created.body as { token: { accessToken: string } }).token;
  const mail = await startMail(fixture, identity.url);
  const { emailTemplateType, templateData } = letter;
  const preview = await send(`${mail.url}/api/v1/mail/preview`, 'POST', identity.session, {
    emailTemplateType,
    templateData,
  });
  return {
    fixture,
    mail,
    token,
    async useSink(port) {
      await configure(port);
      await send(`${mail.url}/api/v1/mail/updateSmtpConfig`, 'POST', token);
    },
    ready: JSON.stringify(preview.body),
    async stop() {
      await mail.stop();
      await identity.stop();
      await fixture.stop();
    },
  };
}

export const sendUrl = ({ url }: ServiceProcess) => `${url}/api/v1/mail/emails/sendEmail`;

/** Measures mails per second through the API, including authentication, rendering, delivery and the record. */
async function sendThroughService(
  { mail, token }: Environment,
  inFlight: number,
  seconds: number,
): Promise<number> {
  const options = { seconds, connections: inFlight, bearers: [token], body: letter };
  return (await load(sendUrl(mail), options)).requestsPerSecond;
}

async function sendRaw(
  kind: string,
  { fixture, ready }: Environment,
  port: number,
  inFlight: number,
  seconds: number,
): Promise<number> {
  const values = [port, inFlight, seconds].map(String);
  const [command = '', ...args] = onServerCore([process.execPath, here('raw.js'), kind, ...values]);
  const running = run(command, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture.certificate } });
  running.child.stdin?.end(ready);
  return Number((await running).stdout);
}

async function takeTurns(environment: Environment, { seconds, progress }: SuiteOptions) {
  const { sinkPort, distantSinkPort } = environment.fixture;
  const rates = {
    raw: [] as number[],
    service: [] as number[],
    rawAt5: [] as number[],
    serviceAt5: [] as number[],
    perMail: [] as number[],
    rawDistant: [] as number[],
    serviceDistant: [] as number[],
    perMailDistant: [] as number[],
  };
  /** A configuration change replaces the service's pool, so its connections are opened before the load, as in raw.ts. */
  const connect = async (port: number) => {
    await environment.useSink(port);
    await sendThroughService(environment, 20, 1);
  };
  progress('warming up');
  await sendThroughService(environment, 20, WARM_UP_SECONDS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`sending, round ${round} of ${ROUNDS}`);
    await connect(sinkPort);
    rates.raw.push(await sendRaw('pooled', environment, sinkPort, 20, seconds));
    rates.service.push(await sendThroughService(environment, 20, seconds));
    rates.rawAt5.push(await sendRaw('pooled', environment, sinkPort, 5, seconds));
    rates.serviceAt5.push(await sendThroughService(environment, 5, seconds));
    rates.perMail.push(await sendRaw('transport-per-mail', environment, sinkPort, 5, seconds));
    await connect(distantSinkPort);
    rates.rawDistant.push(await sendRaw('pooled', environment, distantSinkPort, 5, seconds));
    rates.serviceDistant.push(await sendThroughService(environment, 5, seconds));
    rates.perMailDistant.push(await sendRaw('transport-per-mail', environment, distantSinkPort, 5, seconds));
  }
  return rates;
}

export async function measureSends(options: SuiteOptions): Promise<SuiteResult> {
  options.progress('starting identity, mail and the sink');
  const environment = await prepare();
  try {
    const rates = await takeTurns(environment, options);
    const rate = (name: keyof typeof rates): number => median(rates[name]);
    // prettier-ignore
    const figure = (name: keyof typeof rates, note: string) => ({
      name, value: rate(name), unit: 'mails/s', note,
    });
    return {
      figures: [
        figure('raw', 'nodemailer, pooled, rendered HTML and text, 20 in flight'),
        figure('service', 'through the API, 20 in flight'),
        figure('rawAt5', 'nodemailer, pooled, rendered HTML and text, 5 in flight'),
        figure('serviceAt5', 'through the API, 5 in flight'),
        figure('perMail', 'nodemailer, a transport per mail, 5 in flight'),
        figure('rawDistant', `as rawAt5, a round trip of ${ROUND_TRIP_MS} ms`),
        figure('serviceDistant', `as serviceAt5, a round trip of ${ROUND_TRIP_MS} ms`),
        figure('perMailDistant', `as perMail, a round trip of ${ROUND_TRIP_MS} ms`),
      ],
      ratios: [
        {
          name: 'send_vs_raw',
          value: rate('service') / rate('raw'),
          goal: { min: 0.5 },
          note: 'service / raw',
        },
        {
          name: 'send_vs_transport_per_mail',
          value: rate('serviceDistant') / rate('perMailDistant'),
          goal: { min: 3 },
          note: `serviceDistant / perMailDistant; all over STARTTLS (RSA 2048) with AUTH and PIPELINING`,
        },
        {
          name: 'raw_vs_transport_per_mail',
          value: rate('rawDistant') / rate('perMailDistant'),
          note: 'rawDistant / perMailDistant: the most that pooled connections can gain',
        },
        {
          name: 'local_send_vs_transport_per_mail',
          value: rate('serviceAt5') / rate('perMail'),
          note: 'serviceAt5 / perMail, without network latency',
        },
        {
          name: 'local_raw_vs_transport_per_mail',
          value: rate('rawAt5') / rate('perMail'),
          note: 'rawAt5 / perMail: the most that pooled connections can gain',
        },
      ],
    };
  } finally {
    await environment.stop();
  }
}
