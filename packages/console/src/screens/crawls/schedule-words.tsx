import { crawls } from '#text/crawls';
import { useEffect, useState } from 'react';
import type { ScheduleConfig } from './api.ts';
import type { describeCron } from './describe-cron.ts';
import { describeSchedule } from './describe-schedule.ts';

type Cron = Extract<ScheduleConfig, { scheduleType: 'custom' }>;

/** Says when a schedule runs. A cron expression stands for itself until the code that puts it into words is loaded. */
export const ScheduleWords = ({ config }: { config: ScheduleConfig }) =>
  config.scheduleType === 'custom' && config.description === undefined ? (
    <CronSchedule config={config} />
  ) : (
    describeSchedule(config)
  );

let describe: typeof describeCron | undefined;

function CronSchedule({ config }: { config: Cron }) {
  const [inWords, setInWords] = useState(() => describe);
  useEffect(() => {
    if (inWords) return;
    import('./describe-cron.ts').then(
      (loaded) => {
        describe = loaded.describeCron;
        setInWords(() => loaded.describeCron);
      },
      // The expression itself says it, too.
      () => undefined,
    );
  }, [inWords]);
  const { cronExpression, timezone } = config;
  return crawls.words.custom(inWords?.(cronExpression) ?? cronExpression, timezone);
}
