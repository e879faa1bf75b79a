import { measureGrowth } from '../../load/growth.js';
import { load } from '../../load/load.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startMail, startSink } from './environment.js';
import { startFakeIdentity } from './fake-identity.js';
import { letter } from './submission.js';

const ORGANISATIONS = 1_000;
/** Takes minutes, so it is done only when it is named. */
const MAILS_WHEN_NAMED = 100_000;
const MAILS = 16_000;
/** By then the connections of all organisations are open and V8 has compiled the hot code. */
const WARM_UP_MAILS = 4_000;

export const memory = defineMeasurement({
  title: `memory of mail for ${ORGANISATIONS} organisations`,
  limitSeconds: 240,
  values: {
    resident_mib: { bar: { max: 238 }, unit: 'MiB', note: 'peak memory of mail for 1,000 organisations' },
    resident_growth: { bar: { max: 1.1 }, note: 'memory after / before 16,000 mails, 100,000 when named' },
  },
  async run(fixture) {
    const { port } = await fixture.share(startSink);
    const identity = fixture.keep(await startFakeIdentity(ORGANISATIONS, port));
    const mail = await startMail(fixture, 'bench_mail_memory', identity.url);
    const calls = identity.tokens.map((bearer) => ({ bearer, body: letter }));
    const send = (requests: number) => load(mail.sendUrl, calls, { requests }, 20);
    await send(WARM_UP_MAILS);
    const mails = fixture.isNamed ? MAILS_WHEN_NAMED : MAILS;
    const { early, late } = await measureGrowth(fixture, mail, (steps) => send(mails / steps));
    return { resident_mib: await mail.residentPeakMib(), resident_growth: late / early };
  },
});
