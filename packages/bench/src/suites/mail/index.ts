import { type Agent, request } from 'node:http';
import http from 'node:http';
import { median, type Suite, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { type MailPlatform, post, startMailPlatform } from './platform.js';

/*
 * The whole way through the API (authenticated, rendered, journalled, sent, recorded) against
 * nodemailer alone, on the same core and into the same sink. The loads take turns, three rounds,
 * medians.
 */
const ROUNDS = 3;
/** The first some thousand mails are slower by half: V8 compiles what it sees used. */
const WARM_UP_SECONDS = 12;
const SEND_PATH = '/api/v1/mail/emails/sendEmail';
const templateData = { userName: 'Ada', companyName: 'Example', otp: '493817' };
const letter = JSON.stringify({
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['to@example.com'],
  subject: 'Your code',
  templateData,
});

function sendOne(url: URL, token: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': letter.length,
    };
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`sendEmail answered ${response.statusCode}`));
      });
    });
    sending.once('error', reject);
    sending.end(letter);
  });
}

async function rateOfApi(
  { mail, token }: MailPlatform,
  seconds: number,
  concurrency: number,
): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: concurrency });
  const url = new URL(mail.url + SEND_PATH);
  const startedAt = performance.now();
  let count = 0;
  const sendSome = async () => {
    while (performance.now() - startedAt < seconds * 1_000) {
      await sendOne(url, token, agent);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendSome));
  agent.destroy();
  return count / ((performance.now() - startedAt) / 1_000);
}

async function rateOfPeer({ peer }: MailPlatform, path: string, seconds: number, concurrency: number) {
  const { rate }: { rate: number } = await post(
    `${peer.url}${path}?seconds=${seconds}&concurrency=${concurrency}`,
    undefined,
  );
  return rate;
}

async function measure(platform: MailPlatform, { seconds, progress }: SuiteOptions): Promise<SuiteResult> {
  const preview: { html: string; text: string } = await post(
    `${platform.mail.url}/api/v1/mail/preview`,
    platform.session,
    { emailTemplateType: 'loginWithOTP', templateData },
  );
  const mail = { from: 'noreply@example.com', to: 'to@example.com', subject: 'Your code', ...preview };
  await post(`${platform.peer.url}/mail`, undefined, mail);
  const rates = {
    api20: [] as number[],
    api5: [] as number[],
    pooled: [] as number[],
    single: [] as number[],
  };
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(round === 0 ? 'warming up' : `round ${round} of ${ROUNDS}`);
    const found = {
      api20: await rateOfApi(platform, round === 0 ? WARM_UP_SECONDS : seconds, 20),
      pooled: await rateOfPeer(platform, '/pooled', seconds, 20),
      api5: await rateOfApi(platform, seconds, 5),
      single: await rateOfPeer(platform, '/single', seconds, 5),
    };
    if (round === 0) continue;
    for (const key of ['api20', 'api5', 'pooled', 'single'] as const) rates[key].push(found[key]);
  }
  const rate = (name: string, values: readonly number[], note: string) => ({
    name,
    value: median(values),
    unit: 'mails/s',
    note,
  });
  return {
    figures: [
      rate('api_20', rates.api20, 'through the API, 20 in flight'),
      rate('api_5', rates.api5, 'through the API, 5 in flight'),
      rate('raw_pooled', rates.pooled, 'nodemailer, pooled, a ready text, 20 in flight'),
      rate('transport_per_mail', rates.single, 'nodemailer, a transport for each mail, 5 in flight'),
      {
        name: 'resident',
        value: await platform.mail.residentMib(),
        unit: 'MiB',
        note: 'of the service, afterwards',
      },
    ],
    ratios: [
      {
        name: 'send_vs_raw',
        value: median(rates.api20) / median(rates.pooled),
        goal: { min: 0.5 },
        note: 'API against raw pooled nodemailer',
      },
      {
        name: 'send_vs_transport_per_mail',
        value: median(rates.api5) / median(rates.single),
        goal: { min: 4 },
        note: 'API against a transport per mail',
      },
    ],
  };
}

export const mailSuite: Suite = {
  name: 'mail',
  title: 'mails per second through the API against nodemailer alone',
  parts: [],
  async run(options) {
    const platform = await startMailPlatform();
    try {
      return await measure(platform, options);
    } finally {
      await platform.stop();
    }
  },
};
