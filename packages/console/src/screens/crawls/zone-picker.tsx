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

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')].map((id) => ({
  id,
}));

/** A time zone by typing a part of its name. */
export const ZonePicker = ({ value, onChange }: { value: string; onChange: (zone: string) => void }) => (
  <ComboBox
    name="timezone"
    className="field"
    value={value}
    defaultItems={zones}
    onChange={(zone) => zone !== null && onChange(String(zone))}
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
