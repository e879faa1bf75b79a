import type { ReactNode } from 'react';
import {
  Button as AriaButton,
  CheckboxButton,
  CheckboxField,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  NumberField,
  Popover,
  RadioButton,
  RadioField,
  RadioGroup,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
  type TextFieldProps,
} from 'react-aria-components';
import { CheckIcon, ChevronIcon } from './icons.tsx';

interface LabelledProps {
  readonly label: string;
  readonly hint?: ReactNode;
}

const Hint = ({ children }: { children: ReactNode }) =>
  children === undefined ? null : (
    <Text slot="description" className="hint">
      {children}
    </Text>
  );

export const TextInput = ({
  label,
  hint,
  placeholder,
  isLong,
  ...props
}: LabelledProps & TextFieldProps & { readonly placeholder?: string; readonly isLong?: boolean }) => (
  <TextField {...props} className="field">
    <Label>{label}</Label>
    {isLong ? (
      <TextArea rows={3} placeholder={placeholder ?? ''} />
    ) : (
      <Input placeholder={placeholder ?? ''} />
    )}
    <Hint>{hint}</Hint>
    <FieldError className="fault" />
  </TextField>
);

export interface SelectInputProps<Value extends string> extends LabelledProps {
  readonly name?: string;
  readonly value: NoInfer<Value>;
  readonly options: readonly (readonly [value: Value, label: string])[];
  onChange(value: Value): void;
}

export const SelectInput = <Value extends string>({
  label,
  hint,
  options,
  value,
  onChange,
  ...props
}: SelectInputProps<Value>) => (
  <Select {...props} className="field" value={value} onChange={(key) => onChange(key as Value)}>
    <Label>{label}</Label>
    <AriaButton className="select">
      <SelectValue />
      <ChevronIcon />
    </AriaButton>
    <Hint>{hint}</Hint>
    <Popover className="popover">
      <ListBox className="options">
        {options.map(([key, name]) => (
          <ListBoxItem key={key} id={key} textValue={name}>
            {name}
          </ListBoxItem>
        ))}
      </ListBox>
    </Popover>
  </Select>
);

export const CheckboxRow = ({
  value,
  children,
  hint,
}: {
  value: string;
  children: ReactNode;
  hint?: ReactNode;
}) => (
  <CheckboxField value={value}>
    <CheckboxButton className="checkbox">
      <span className="box">
        <CheckIcon />
      </span>
      <span>
        {children}
        {hint !== undefined && <small>{hint}</small>}
      </span>
    </CheckboxButton>
  </CheckboxField>
);

interface RadioCardsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly key: Value; readonly label: string; readonly hint: string }[];
  onChange(value: Value): void;
}

/** A choice of one, each explained in a line. */
export const RadioCards = <Value extends string>({
  label,
  value,
  options,
  onChange,
}: RadioCardsProps<Value>) => (
  <RadioGroup className="field" value={value} onChange={(key) => onChange(key as Value)}>
    <Label>{label}</Label>
    <div className="cards">
      {options.map((option) => (
        <RadioField key={option.key} value={option.key}>
          <RadioButton className="card">
            {option.label}
            <small>{option.hint}</small>
          </RadioButton>
        </RadioField>
      ))}
    </div>
  </RadioGroup>
);

interface NumberInputProps extends LabelledProps {
  readonly value: number;
  readonly minValue: number;
  readonly maxValue: number;
  onChange(value: number): void;
}

/** A whole number within bounds. */
export const NumberInput = ({ label, hint, onChange, ...props }: NumberInputProps) => (
  <NumberField
    {...props}
    className="field"
    isRequired
    formatOptions={{ useGrouping: false, maximumFractionDigits: 0 }}
    onChange={(value) => onChange(Number.isNaN(value) ? props.minValue : value)}
  >
    <Label>{label}</Label>
    <Input />
    <Hint>{hint}</Hint>
    <FieldError className="fault" />
  </NumberField>
);
