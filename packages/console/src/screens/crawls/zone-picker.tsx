import { scheduleEditor } from '#text/schedule-editor';
import {
  Button as AriaButton,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components';
import { Fault } from '../../ui/fields.tsx';
import { ChevronIcon } from '../../ui/icons.tsx';
import { useChange } from '../../ui/use-change.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((id) => ({
  id,
}));

/** A time zone by typing a part of its name. */
export function ZonePicker({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  const [field, change] = useChange(onChange);
  return (
    <ComboBox
      name="timezone"
      ref={field}
      className="field"
      value={value}
      defaultItems={zones}
      onChange={(zone) => zone !== null && change(String(zone))}
    >
      <Label>{scheduleEditor.zone}</Label>
      <div className="combo">
        <Input />
        <AriaButton className="button quiet">
          <ChevronIcon />
        </AriaButton>
      </div>
      <Fault />
      <Popover className="popover">
        <ListBox<{ id: string }> className="options">
          {({ id }) => <ListBoxItem textValue={id}>{id}</ListBoxItem>}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
