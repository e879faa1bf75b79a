import { text } from '#text/shared';
import { tools } from '#text/tools';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { Button } from '../../ui/button.tsx';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { reveal } from '../../ui/reveal.ts';
import { useAction } from '../../ui/use-action.ts';
import { Answer } from '../knowledge/answer.tsx';
import { callTool, type UsableTool } from '../knowledge/api.ts';
import { type ArgumentField, findInvalid, toArgumentFields, toArguments } from './argument-fields.ts';

const t = tools.try;

/** Calls a tool as oneself, with the arguments that its schema describes, and shows the answer. */
export function TryTool({ tool }: { tool: UsableTool }) {
  const [fields] = useState(() => toArgumentFields(tool.inputSchema));
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  );
  const call = useAction({ mutationFn: (args: Record<string, unknown>) => callTool(tool.name, args) });
  const isSafe = tool.annotations['readOnlyHint'] === true;
  return (
    <>
      <Form
        className="form try"
        onSubmit={(event) => {
          event.preventDefault();
          call.mutate(toArguments(fields, typed));
        }}
      >
        {fields.length === 0 && <p className="quiet-text">{t.none}</p>}
        {fields.map((field) => (
          <ArgumentInput
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            onChange={(value) => setTyped((previous) => ({ ...previous, [field.name]: value }))}
          />
        ))}
        {!isSafe && <p className="warning">{t.real}</p>}
        <div className="actions">
          <Button type="submit" kind="primary" isPending={call.isPending}>
            {t.submit}
          </Button>
        </div>
      </Form>
      <p className="hint">{t.hint}</p>
      <div aria-live="polite">
        <ProblemNote error={call.error} />
        {call.data && <Answer answer={call.data} />}
      </div>
    </>
  );
}

interface ArgumentInputProps {
  readonly field: ArgumentField;
  readonly value: string;
  onChange(value: string): void;
}

const GIVEN = '-';

function ArgumentInput({ field, value, onChange }: ArgumentInputProps) {
  const { name, kind, hint, isRequired, choices } = field;
  const words = [
    hint === undefined ? '' : reveal(hint),
    kind === 'lines' ? t.lines : '',
    kind === 'json' ? t.json : '',
  ]
    .filter(Boolean)
    .join(' ');
  if (kind === 'boolean' || kind === 'choice') {
    const options =
      kind === 'boolean'
        ? ([
            ['true', text.yes],
            ['false', text.no],
          ] as const)
        : choices.map((choice) => [choice, reveal(choice)] as const);
    return (
      <SelectInput
        label={reveal(name)}
        {...(words !== '' && { hint: words })}
        value={value === '' ? GIVEN : value}
        options={isRequired && value !== '' ? options : [[GIVEN, t.given], ...options]}
        onChange={(chosen) => onChange(chosen === GIVEN ? '' : chosen)}
      />
    );
  }
  return (
    <TextInput
      label={reveal(name)}
      {...(words !== '' && { hint: words })}
      value={value}
      onChange={onChange}
      isRequired={isRequired}
      isLong={kind === 'lines' || kind === 'json'}
      {...((kind === 'number' || kind === 'integer') && { inputMode: 'numeric' as const })}
      validate={(current) => {
        const invalid = findInvalid(field, current);
        return invalid === undefined ? null : t.invalid[invalid];
      }}
    />
  );
}
