import type { Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { measureLargeMail } from './large-mail.js';
import { measureMemory } from './memory.js';
import { measureRendering } from './rendering.js';
import { measureSends } from './sends.js';

interface Part {
  /** The ratios that this part measures. */
  readonly names: readonly string[];
  readonly measure: (options: SuiteOptions) => Promise<SuiteResult>;
}

const parts: readonly Part[] = [
  { names: ['render_us'], measure: measureRendering },
  { names: ['send_vs_raw', 'send_vs_transport_per_mail'], measure: measureSends },
  { names: ['large_mail_stall_ms'], measure: measureLargeMail },
  { names: ['resident_mib', 'resident_growth'], measure: measureMemory },
];

async function* run(options: SuiteOptions): AsyncGenerator<SuiteResult> {
  for (const { names, measure } of parts)
    if (options.only.size === 0 || names.some((name) => options.only.has(name))) yield await measure(options);
}

export const mailSuite: Suite = {
  name: 'mail',
  title: 'template mails through the API, against nodemailer alone',
  parts: parts.flatMap(({ names }) => names),
  run,
};
