import { scheduleEditor } from '#text/schedule-editor';
import cronstrue from 'cronstrue';

/** Says in words what a cron expression means. Whether it is valid is for the platform to say. */
export function CronWords({ expression }: { expression: string }) {
  return (
    <p className="hint" aria-live="polite">
      {describeCron(expression) ?? scheduleEditor.cronHint}
    </p>
  );
}

/** @returns the meaning of a cron expression in words, or undefined when it has none. */
export function describeCron(expression: string): string | undefined {
  try {
    const [, , dayOfMonth = '', , dayOfWeek = ''] = expression.trim().split(/\s+/);
    return cronstrue.toString(expression.trim(), {
      use24HourTimeFormat: true,
      // Either day may match, unless one of them starts with a star.
      logicalAndDayFields: dayOfMonth.startsWith('*') || dayOfWeek.startsWith('*'),
    });
  } catch {
    return undefined;
  }
}
