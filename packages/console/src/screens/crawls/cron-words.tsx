import { scheduleEditor } from '#text/schedule-editor';
import cronstrue from 'cronstrue';

/** Says in words what a cron expression means. Whether it is valid is for the platform to say. */
export function CronWords({ expression }: { expression: string }) {
  return (
    <p className="hint" aria-live="polite">
      {describeCron(expression)}
    </p>
  );
}

function describeCron(expression: string): string {
  try {
    return cronstrue.toString(expression.trim(), { use24HourTimeFormat: true });
  } catch {
    return scheduleEditor.cronHint;
  }
}
