import { crawls } from '#text/crawls';
import { scheduleEditor as t } from '#text/schedule-editor';
import { CheckboxRow, ChoiceGroup, NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { browserZone } from '../../look.ts';
import { CronWords } from './cron-words.tsx';
import { type Draft, hasFiveFields } from './draft.ts';

const types = Object.entries(t.types) as [Draft['scheduleType'], string][];

interface RecurrenceProps {
  readonly draft: Draft;
  onChange(fields: Partial<Draft>): void;
}

/** The fields that say how often a crawl runs; each type has its own. */
export const Recurrence = (props: RecurrenceProps) => (
  <>
    <SelectInput<Draft['scheduleType']>
      name="scheduleType"
      label={t.type}
      value={props.draft.scheduleType}
      options={types}
      onChange={(scheduleType) => props.onChange({ scheduleType })}
    />
    <TypeFields {...props} />
  </>
);

function TypeFields({ draft, onChange }: RecurrenceProps) {
  switch (draft.scheduleType) {
    case 'hourly':
      return (
        <div className="row">
          <NumberInput
            name="interval"
            label={t.interval}
            value={draft.interval}
            minValue={1}
            maxValue={24}
            onChange={(interval) => onChange({ interval })}
          />
          <Minute draft={draft} onChange={onChange} />
        </div>
      );
    case 'daily':
      return <TimeOfDay draft={draft} onChange={onChange} />;
    case 'weekly':
      return (
        <>
          <Weekdays draft={draft} onChange={onChange} />
          <TimeOfDay draft={draft} onChange={onChange} />
        </>
      );
    case 'monthly':
      return (
        <>
          <NumberInput
            name="dayOfMonth"
            label={t.dayOfMonth}
            hint={t.dayOfMonthHint}
            value={draft.dayOfMonth}
            minValue={1}
            maxValue={31}
            onChange={(dayOfMonth) => onChange({ dayOfMonth })}
          />
          <TimeOfDay draft={draft} onChange={onChange} />
        </>
      );
    case 'custom':
      return (
        <>
          <TextInput
            name="cronExpression"
            label={t.cron}
            value={draft.cronExpression}
            isRequired
            validate={(value) => (hasFiveFields(value) ? null : t.cronHint)}
            onChange={(cronExpression) => onChange({ cronExpression })}
          />
          <CronWords expression={draft.cronExpression} />
        </>
      );
    case 'once':
      return (
        <TextInput
          name="scheduledTime"
          label={t.once}
          hint={t.onceHint(browserZone)}
          type="datetime-local"
          isRequired
          value={draft.localTime}
          onChange={(localTime) => onChange({ localTime })}
        />
      );
    default:
      return draft.scheduleType satisfies never;
  }
}

const Minute = ({ draft, onChange }: RecurrenceProps) => (
  <NumberInput
    name="minute"
    label={t.minute}
    value={draft.minute}
    minValue={0}
    maxValue={59}
    onChange={(minute) => onChange({ minute })}
  />
);

const TimeOfDay = (props: RecurrenceProps) => (
  <div className="row">
    <NumberInput
      name="hour"
      label={t.hour}
      value={props.draft.hour}
      minValue={0}
      maxValue={23}
      onChange={(hour) => props.onChange({ hour })}
    />
    <Minute {...props} />
  </div>
);

const Weekdays = ({ draft, onChange }: RecurrenceProps) => (
  <ChoiceGroup
    name="daysOfWeek"
    label={t.days}
    missing={t.daysMissing}
    value={draft.daysOfWeek.map(String)}
    onChange={(days) => onChange({ daysOfWeek: days.map(Number) })}
  >
    <div className="weekdays">
      {crawls.words.days.map((day, index) => (
        <CheckboxRow key={day} value={String(index)}>
          {day}
        </CheckboxRow>
      ))}
    </div>
  </ChoiceGroup>
);
