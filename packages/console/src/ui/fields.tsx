import { type ReactNode, useContext, useEffect, useRef } from 'react';
import {
  Button as AriaButton,
  CheckboxButton,
  CheckboxField,
  CheckboxGroup,
  CheckboxGroupStateContext,
  FieldError,
  FieldErrorContext,
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
import { useChange } from './use-change.ts';

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

/**
 * Says what is wrong with the field. Once it isn't any more, its place stays: the button below would move away under the
 * pointer that is about to press it.
 */
export function Fault() {
  const validation = useContext(FieldErrorContext);
  const last = useRef('');
  const words = validation?.isInvalid ? validation.validationErrors.join(' ') : '';
  useEffect(() => {
    if (words !== '') last.current = words;
  }, [words]);
  if (words !== '') return <FieldError className="fault" />;
  return (
    <span className="fault gone" aria-hidden="true">
      {last.current}
    </span>
  );
}

interface ChoiceGroupProps extends LabelledProps {
  readonly name: string;
  /** The text at the other end of the label's line. */
  readonly aside?: string;
  readonly value: readonly string[];
  /** The message when nothing is chosen. */
  readonly missing: string;
  readonly children: ReactNode;
  onChange(value: readonly string[]): void;
}

/** Rarely needed fields, folded. */
export const Advanced = ({ label, children }: { label: string; children: ReactNode }) => (
  <details>
    <summary>{label}</summary>
    {children}
  </details>
);

/** A choice of at least one. */
export const ChoiceGroup = ({
  label,
  hint,
  aside,
  missing,
  value,
  onChange,
  children,
  ...props
}: ChoiceGroupProps) => (
  <CheckboxGroup
    {...props}
    className="field"
    value={[...value]}
    onChange={onChange}
    validate={(chosen) => (chosen.length === 0 ? missing : null)}
  >
    <span className="label-row">
      <Label>{label}</Label>
      {aside !== undefined && <span className="hint">{aside}</span>}
    </span>
    <Hint>{hint}</Hint>
    {children}
    <ClearChoiceFault />
    <Fault />
  </CheckboxGroup>
);

/** A group keeps what was wrong with it until it loses the focus; here it is gone as soon as something is chosen. */
function ClearChoiceFault() {
  const group = useContext(CheckboxGroupStateContext);
  const count = group?.value.length ?? 0;
  const commit = useRef(() => undefined as void);
  useEffect(() => {
    commit.current = () => group?.commitValidation();
  });
  useEffect(() => {
    if (count > 0) commit.current();
  }, [count]);
  return null;
}

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
    <Fault />
  </TextField>
);

export interface SelectInputProps<Value extends string> extends LabelledProps {
  readonly name?: string;
  readonly value: NoInfer<Value>;
  readonly options: readonly (readonly [value: Value, label: string])[];
  onChange(value: Value): void;
}

export function SelectInput<Value extends string>({
  label,
  hint,
  options,
  value,
  onChange,
  ...props
}: SelectInputProps<Value>) {
  const [field, change] = useChange(onChange);
  return (
    <Select {...props} ref={field} className="field" value={value} onChange={(key) => change(key as Value)}>
      <Label>{label}</Label>
      <AriaButton className="select">
        <SelectValue />
        <ChevronIcon />
      </AriaButton>
      <Hint>{hint}</Hint>
      <Fault />
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
}

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
  readonly name?: string;
  readonly value: number;
  readonly minValue: number;
  readonly maxValue: number;
  onChange(value: number): void;
}

/** A whole number within bounds. */
export function NumberInput({ label, hint, onChange, ...props }: NumberInputProps) {
  const [field, change] = useChange(onChange);
  return (
    <NumberField
      {...props}
      ref={field}
      className="field"
      isRequired
      formatOptions={{ useGrouping: false, maximumFractionDigits: 0 }}
      onChange={(value) => change(Number.isNaN(value) ? props.minValue : value)}
    >
      <Label>{label}</Label>
      <Input />
      <Hint>{hint}</Hint>
      <Fault />
    </NumberField>
  );
}
