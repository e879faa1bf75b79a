import { crawls } from '#text/crawls';
import { lazy, Suspense } from 'react';
import type { ScheduleConfig } from './api.ts';
import { describeSchedule } from './describe-schedule.ts';

type Cron = Extract<ScheduleConfig, { scheduleType: 'custom' }>;

/** Says when a schedule runs. A cron expression stands for itself until the code that puts it into words is loaded. */
export const ScheduleWords = ({ config }: { config: ScheduleConfig }) =>
  config.scheduleType === 'custom' && config.description === undefined ? (
    <Suspense fallback={describeSchedule(config)}>
      <CronSchedule config={config} />
    </Suspense>
  ) : (
    describeSchedule(config)
  );

const CronSchedule = lazy(async () => {
  const { describeCron } = await import('./cron-words.tsx');
  return {
    default: ({ config }: { config: Cron }) =>
      crawls.words.custom(describeCron(config.cronExpression) ?? config.cronExpression, config.timezone),
  };
});
