import { scheduleEditor } from '#text/schedule-editor';
import { describeCron } from './describe-cron.ts';

/** Says in words what a cron expression means. Whether it is valid is for the platform to say. */
export function CronWords({ expression }: { expression: string }) {
  return (
    <p className="hint" aria-live="polite">
      {describeCron(expression) ?? scheduleEditor.cronHint}
    </p>
  );
}
