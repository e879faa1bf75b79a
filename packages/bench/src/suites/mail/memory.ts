import { load } from '../../load.js';
import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { startFixture, startMail } from './processes.js';
import { sendUrl } from './sends.js';
import { startFakeIdentity } from './fake-identity.js';
import { letter } from './submission.js';

const ORGANISATIONS = 1_000;
/** 250 MB. */
const MAX_RESIDENT_MIB = 238;
/** Takes minutes, so it is measured only when this part is named with `--only`. */
const MAILS_WHEN_NAMED = 100_000;
const MAILS = 20_000;
const STEPS = 20;
/** By then the connections of all organisations are open and V8 has compiled the hot code. */
const SETTLED_STEPS = 4;
/** The medians of the first and the last of this many steps are compared. */
const COMPARED_STEPS = 5;

/** Measures resident memory while mails are sent for 1,000 organisations, each with its own SMTP configuration. */
export async function measureMemory({ only, progress }: SuiteOptions): Promise<SuiteResult> {
  const mails = only.size > 0 ? MAILS_WHEN_NAMED : MAILS;
  const fixture = await startFixture();
  const fakeIdentity = await startFakeIdentity(ORGANISATIONS, fixture.sinkPort);
  const mail = await startMail(fixture, fakeIdentity.url);
  try {
    const resident: number[] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      progress(`${mails} mails of ${ORGANISATIONS} organisations, step ${step} of ${STEPS}`);
      const requests = mails / STEPS;
      await load(sendUrl(mail), { requests, connections: 20, bearers: fakeIdentity.tokens, body: letter });
      resident.push(await mail.residentMib());
    }
    const early = median(resident.slice(SETTLED_STEPS, SETTLED_STEPS + COMPARED_STEPS));
    const late = median(resident.slice(-COMPARED_STEPS));
    const note = `${mails} mails of ${ORGANISATIONS} organisations`;
    return {
      figures: [
        { name: 'resident_early', value: early, unit: 'MiB', note: 'after the first fifth' },
        { name: 'resident_late', value: late, unit: 'MiB', note: 'at the end' },
      ],
      ratios: [
        {
          name: 'resident_mib',
          value: await mail.residentPeakMib(),
          goal: { max: MAX_RESIDENT_MIB },
          note: `MiB at most, ${note}`,
        },
        { name: 'resident_growth', value: late / early, goal: { max: 1.1 }, note: `late / early, ${note}` },
      ],
    };
  } finally {
    await mail.stop();
    fakeIdentity.close();
    await fixture.stop();
  }
}
