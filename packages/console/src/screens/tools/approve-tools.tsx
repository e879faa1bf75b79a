import { tools } from '#text/tools';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-dialog.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { Loading } from '../../ui/query-view.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { reveal } from '../../ui/reveal.ts';
import type { ToolDetail } from '../mcp-servers/api.ts';
import {
  Definition,
  isWaiting,
  type Scope,
  ScopeInput,
  suggestScope,
  toApproval,
} from '../mcp-servers/review-tool.tsx';

const t = tools.approve;
/** As many as somebody reads one after the other. */
const MAX_TOOLS = 20;

interface ChosenTool {
  readonly serverId: string;
  /** The name at its server. */
  readonly name: string;
}

interface ApproveToolsProps {
  readonly tools: readonly ChosenTool[];
  onClose(): void;
}

interface ReadTool extends ChosenTool {
  readonly detail: ToolDetail;
}

/** Shows what several tools say of themselves, and approves them with one press. */
export function ApproveTools({ tools: chosen, onClose }: ApproveToolsProps) {
  const shown = chosen.slice(0, MAX_TOOLS);
  const read = useQueries({
    queries: shown.map(({ serverId, name }) => ({
      queryKey: ['mcp-servers', 'tool', serverId, name],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        unwrap(
          identity.GET('/api/v1/mcp-servers/{id}/tools/{tool}', {
            params: { path: { id: serverId, tool: name } },
            signal,
          }),
        ),
      // As it is now, and not another one while somebody reads.
      gcTime: 0,
      staleTime: Infinity,
    })),
  });
  const error = read.find((one) => one.error)?.error;
  const found = shown.flatMap((tool, index) => {
    const detail = read[index]?.data;
    return detail ? [{ ...tool, detail }] : [];
  });
  return (
    <ModalDialog title={t.title(shown.length)} isWide onClose={onClose}>
      <ProblemNote error={error} />
      {chosen.length > shown.length && <p className="hint">{t.first(shown.length, chosen.length)}</p>}
      {found.length === shown.length ? <Approval read={found} onClose={onClose} /> : !error && <Loading />}
    </ModalDialog>
  );
}

const toKey = ({ serverId, name }: ChosenTool): string => `${serverId} ${name}`;

function Approval({ read, onClose }: { read: readonly ReadTool[]; onClose(): void }) {
  // What is being read stays, even if a tool is read again meanwhile.
  const [waiting] = useState(() => read.filter(({ detail }) => isWaiting(detail)));
  const [scopes, setScopes] = useState<Readonly<Record<string, Scope>>>(() =>
    Object.fromEntries(waiting.map((tool) => [toKey(tool), suggestScope(tool.detail)])),
  );
  const getScope = (tool: ReadTool): Scope => scopes[toKey(tool)] ?? 'none';
  if (waiting.length === 0) return <p>{t.none}</p>;
  return (
    <ActionForm
      action={t.submit(waiting.length)}
      changes={['mcp-servers']}
      act={async () => {
        for (const id of new Set(waiting.map(({ serverId }) => serverId))) {
          const ofServer = waiting.filter(({ serverId }) => serverId === id);
          await unwrap(
            identity.PATCH('/api/v1/mcp-servers/{id}/tools', {
              params: { path: { id } },
              body: { tools: ofServer.map((tool) => toApproval(tool.detail, getScope(tool))) },
            }),
          );
        }
      }}
      describe={() => t.done(waiting.length)}
      onClose={onClose}
    >
      <p>{t.intro}</p>
      {waiting.map((tool) => (
        <fieldset key={toKey(tool)} className="reviewed">
          <legend>
            <code>{reveal(tool.detail.mountedName)}</code>
          </legend>
          <Definition tool={tool.detail} />
          <ScopeInput
            tool={tool.detail}
            value={getScope(tool)}
            onChange={(scope) => setScopes((previous) => ({ ...previous, [toKey(tool)]: scope }))}
          />
        </fieldset>
      ))}
    </ActionForm>
  );
}
