import { knowledge } from '#text/knowledge';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useMe } from '../../api/me.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { Empty } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { useAction } from '../../ui/use-action.ts';
import { Answer } from './answer.tsx';
import { callTool } from './api.ts';

const t = knowledge.ask;

/** A tool, and the name of the argument that it searches for. */
interface SearchTool {
  readonly name: string;
  readonly question: string;
}

/** Sends a question to one of the searches, and shows the answer. */
export function AskForm({ tools }: { tools: readonly SearchTool[] }) {
  const isAdmin = useMe().role === 'admin';
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(tools[0]?.name ?? '');
  const tool = tools.find(({ name }) => name === chosen) ?? tools[0];
  const search = useAction({
    mutationFn: ({ name, args }: { name: string; args: Record<string, unknown> }) => callTool(name, args),
  });
  if (!tool)
    return isAdmin ? (
      <Empty title={t.none} action={<EmptyLink to="/organisation/mcp-servers" label={t.servers} />}>
        {t.noneForAdmins}
      </Empty>
    ) : (
      <p className="quiet-text">{t.none}</p>
    );
  return (
    <>
      <Form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          search.mutate({ name: tool.name, args: { [tool.question]: typed.trim() } });
        }}
      >
        <TextInput
          label={t.label}
          placeholder={t.placeholder}
          value={typed}
          onChange={setTyped}
          type="search"
          isRequired
          maxLength={500}
        />
        {tools.length > 1 && (
          <SelectInput
            label={t.tool}
            value={tool.name}
            options={tools.map(({ name }) => [name, name] as const)}
            onChange={setChosen}
          />
        )}
        <Button type="submit" kind="primary" isPending={search.isPending}>
          {t.submit}
        </Button>
      </Form>
      <p className="hint">{t.hint}</p>
      <div aria-live="polite">
        <ProblemNote error={search.error} />
        {search.data && <Answer answer={search.data} />}
      </div>
    </>
  );
}
