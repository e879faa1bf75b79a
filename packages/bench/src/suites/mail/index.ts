import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import { onServerCore } from '../../cores.js';
import { type BenchIdentity, createDatabase, send, startBenchIdentity } from '../../identity.js';
import { load } from '../../load.js';
import { type ServiceProcess, startChild, startProcess } from '../../service-process.js';
import { median, type Suite, type SuiteOptions, type SuiteResult } from '../../suite.js';

/*
 * The service as it runs in production (identity beside it on the other core, asked about every
 * request), against nodemailer alone, into one sink. They take turns, three rounds, medians.
 */
const ROUNDS = 3;
/** The first thousands of mails are slower by half: V8 compiles what it sees used. */
const WARM_UP_SECONDS = 12;
const SECRET = 'benchmark-secret-of-the-mail-service';
const nodeFlags = ['--max-old-space-size=256', '--max-semi-space-size=4'];
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const mailFile = (name: string) =>
  fileURLToPath(new URL(`../../../../../services/mail/dist/${name}`, import.meta.url));
const run = promisify(execFile);

interface Setting {
  readonly mail: ServiceProcess;
  readonly token: string;
  readonly sinkPort: number;
  /** What the service sends, as JSON: the same for nodemailer alone. */
  readonly ready: string;
}

async function startMail(postgres: EmbeddedPostgres, identity: BenchIdentity): Promise<ServiceProcess> {
  const port = await findFreePort();
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: await createDatabase(postgres, 'bench_mail'),
    IDENTITY_URL: identity.url,
    SERVICE_CLIENT_SECRET: SECRET,
    HOST: '127.0.0.1',
    PORT: String(port),
    NODE_ENV: 'production',
  };
  execFileSync(process.execPath, [mailFile('cli.js'), 'migrate'], { env: environment, stdio: 'ignore' });
  return startProcess([...nodeFlags, mailFile('server.js')], port, '/health/ready', environment);
}

async function prepare(progress: SuiteOptions['progress']) {
  progress('starting identity, mail and the sink');
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { synchronous_commit: 'off' },
    isTemporary: true,
  });
  const identity = await startBenchIdentity(postgres, 'bench_identity', `mail:${SECRET}`, 'load');
  const sinkPort = await findFreePort();
  const sink = startChild([here('sink.js'), String(sinkPort)]);
  const smtp = { host: '127.0.0.1', port: sinkPort, fromEmail: 'noreply@corp.example', tls: 'none' };
  await send(`${identity.url}/api/v1/configurationManager/smtpConfig`, 'POST', identity.session, smtp);
  const created = await send(`${identity.url}/api/v1/personal-access-tokens`, 'POST', identity.session, {
    name: 'bench',
    scopes: ['SEND_MAIL'],
  });
  const { accessToken: token } = (created.body as { token: { accessToken: string } }).token;
  const mail = await startMail(postgres, identity);
  const { emailTemplateType, templateData } = letter;
  const preview = await send(`${mail.url}/api/v1/mail/preview`, 'POST', identity.session, {
    emailTemplateType,
    templateData,
  });
  const ready = JSON.stringify(preview.body);
  const stop = async () => {
    await mail.stop();
    await identity.stop();
    sink.kill();
    await postgres.stop();
  };
  return { setting: { mail, token, sinkPort, ready }, stop };
}

const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['to@example.com'],
  subject: 'Your code',
  templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
};

/** Mails per second through the API: authenticated, rendered, sent, recorded. */
async function sendThroughService(
  { mail, token }: Setting,
  inFlight: number,
  seconds: number,
): Promise<number> {
  const url = `${mail.url}/api/v1/mail/emails/sendEmail`;
  return (await load(url, { seconds, connections: inFlight, bearers: [token], body: letter }))
    .requestsPerSecond;
}

async function sendRaw(kind: string, setting: Setting, inFlight: number, seconds: number): Promise<number> {
  const { sinkPort, ready } = setting;
  const program = [
    process.execPath,
    here('raw.js'),
    kind,
    String(sinkPort),
    String(inFlight),
    String(seconds),
  ];
  const [command = '', ...args] = onServerCore(program);
  const running = run(command, args);
  running.child.stdin?.end(ready);
  return Number((await running).stdout);
}

async function measureSends(setting: Setting, { seconds, progress }: SuiteOptions): Promise<SuiteResult> {
  const rates = {
    raw: [] as number[],
    service: [] as number[],
    perMail: [] as number[],
    serviceAt5: [] as number[],
  };
  progress('warming up');
  await sendThroughService(setting, 20, WARM_UP_SECONDS);
  let residentMib = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`sending, round ${round} of ${ROUNDS}`);
    rates.raw.push(await sendRaw('pooled', setting, 20, seconds));
    rates.service.push(await sendThroughService(setting, 20, seconds));
    rates.perMail.push(await sendRaw('transport-per-mail', setting, 5, seconds));
    rates.serviceAt5.push(await sendThroughService(setting, 5, seconds));
    residentMib = Math.max(residentMib, await setting.mail.residentPeakMib());
  }
  const figure = (name: string, values: readonly number[], note: string) => ({
    name, value: median(values), unit: 'mails/s', note,
  }); // prettier-ignore
  return {
    figures: [
      figure('raw', rates.raw, 'nodemailer, pooled, a ready message, 20 in flight'),
      figure('service', rates.service, 'through the API, 20 in flight'),
      figure('transport_per_mail', rates.perMail, 'nodemailer, a transport per mail, 5 in flight'),
      figure('service_at_5', rates.serviceAt5, 'through the API, 5 in flight'),
      { name: 'resident', value: residentMib, unit: 'MiB', note: 'of mail under that load; at most 250' },
    ],
    ratios: [
      {
        name: 'send_vs_raw',
        value: median(rates.service) / median(rates.raw),
        goal: { min: 0.5 },
        note: 'service / raw',
      },
      {
        name: 'send_vs_transport_per_mail',
        value: median(rates.serviceAt5) / median(rates.perMail),
        goal: { min: 4 },
        note: 'service_at_5 / transport_per_mail',
      },
    ],
  };
}

const RENDERINGS = 200_000;

async function measureRendering(progress: SuiteOptions['progress']): Promise<SuiteResult> {
  progress('rendering');
  const { renderTemplate } = (await import(mailFile('features/templates/render.js'))) as {
    renderTemplate(type: string, view: object): { html: string; text: string };
  };
  const { createView } = (await import(mailFile('features/templates/view.js'))) as {
    createView(type: string, data: object, productName: string): { view: object };
  };
  const renderMany = (count: number) => {
    const startedAt = performance.now();
    for (let index = 0; index < count; index += 1) {
      const data = { ...letter.templateData, userName: `Ada <${index}>` };
      renderTemplate('loginWithOTP', createView('loginWithOTP', data, 'Example').view);
    }
    return ((performance.now() - startedAt) * 1_000) / count;
  };
  renderMany(20_000);
  const value = renderMany(RENDERINGS);
  return {
    figures: [],
    ratios: [{ name: 'render_us', value, goal: { max: 20 }, note: 'microseconds per mail, HTML and text' }],
  };
}

async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const isWanted = (part: string) => options.only.size === 0 || options.only.has(part);
  const results: SuiteResult[] = [];
  if (isWanted('render_us')) results.push(await measureRendering(options.progress));
  if (isWanted('send_vs_raw') || isWanted('send_vs_transport_per_mail')) {
    const { setting, stop } = await prepare(options.progress);
    try {
      results.push(await measureSends(setting, options));
    } finally {
      await stop();
    }
  }
  return {
    figures: results.flatMap(({ figures }) => figures),
    ratios: results.flatMap(({ ratios }) => ratios),
  };
}

export const mailSuite: Suite = {
  name: 'mail',
  title: 'template mails through the API, against nodemailer alone',
  parts: ['send_vs_raw', 'send_vs_transport_per_mail', 'render_us'],
  run: runSuite,
};
