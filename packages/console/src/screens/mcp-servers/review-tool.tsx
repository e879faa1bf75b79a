import { mcpServers } from '#text/mcp-servers';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { SelectInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { AccessInput, readAccess } from '../groups/access-input.tsx';
import { reveal } from '../../ui/reveal.ts';
import type { ToolDetail } from './api.ts';

const t = mcpServers.review;

interface ReviewToolProps {
  readonly serverId: string;
  readonly name: string;
  onClose(): void;
}

/** Shows a tool's definition as its server offers it, to approve it and to say who gets it. */
export function ReviewTool({ serverId, name, onClose }: ReviewToolProps) {
  const query = useQuery({
    queryKey: ['mcp-servers', 'tool', serverId, name],
    queryFn: ({ signal }) =>
      unwrap(
        identity.GET('/api/v1/mcp-servers/{id}/tools/{tool}', {
          params: { path: { id: serverId, tool: name } },
          signal,
        }),
      ),
    // Always as it is now, and not another one while somebody reads.
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <ModalDialog title={t.title(reveal(name))} isWide onClose={onClose}>
      <QueryView query={query}>
        {(latest) => <Reading serverId={serverId} latest={latest} onClose={onClose} />}
      </QueryView>
    </ModalDialog>
  );
}

interface ReadingProps {
  readonly serverId: string;
  readonly latest: ToolDetail;
  onClose(): void;
}

/** Keeps the definition that is being read until the reader asks for its replacement. */
function Reading({ latest, ...decision }: ReadingProps) {
  const [tool, setTool] = useState(latest);
  return (
    <>
      {latest.hash !== tool.hash && (
        <div className="banner" role="alert">
          <span>{t.outdated}</span>
          <Button onPress={() => setTool(latest)}>{t.showLatest}</Button>
        </div>
      )}
      <Decision key={tool.hash} tool={tool} {...decision} />
    </>
  );
}

type Scope = 'rules' | 'kb:read' | 'semantic:write' | 'none';

interface DecisionProps {
  readonly serverId: string;
  readonly tool: ToolDetail;
  onClose(): void;
}

function Decision({ serverId, tool, onClose }: DecisionProps) {
  const { name, state, hash } = tool;
  const [scope, setScope] = useState<Scope>((tool.scope as Scope | null) ?? 'rules');
  const isWaiting = state === 'new' || state === 'changed';
  const byRules = tool.scope === null ? (tool.effectiveScope ?? undefined) : undefined;
  const scopeOptions = [
    ['rules', tool.scope === null ? t.scopes.rules(byRules) : t.scopes.byRules],
    ['kb:read', t.scopes['kb:read']],
    ['semantic:write', t.scopes['semantic:write']],
    ['none', t.scopes.none],
  ] as const;
  return (
    <ActionForm
      action={isWaiting ? t.approve : t.save}
      changes={['mcp-servers']}
      act={(form) =>
        unwrap(
          identity.PATCH('/api/v1/mcp-servers/{id}/tools', {
            params: { path: { id: serverId } },
            body: {
              tools: [
                {
                  name,
                  scope: scope === 'rules' ? null : scope,
                  ...readAccess(form),
                  // Names what is shown here: should it change meanwhile, nothing is approved.
                  ...(isWaiting && hash !== null && { approve: hash }),
                },
              ],
            },
          }),
        )
      }
      describe={() => (isWaiting ? t.approved(name) : t.saved(name))}
      onClose={onClose}
    >
      {isWaiting && <p>{t.hidden}</p>}
      {tool.flags.map((flag) => (
        <p key={flag} className="problem">
          {t.flagged[flag]}
        </p>
      ))}
      <Definition tool={tool} />
      <SelectInput<Scope> label={t.scope} value={scope} options={scopeOptions} onChange={setScope} />
      <AccessInput allowed={tool.allowedGroups} />
    </ActionForm>
  );
}

function Definition({ tool: { offered, approved, differences, state } }: { tool: ToolDetail }) {
  const definition = offered ?? approved;
  const description = definition?.['description'];
  return (
    <>
      <div className="field">
        <h3>{t.description}</h3>
        <p className="quoted">{typeof description === 'string' ? reveal(description) : t.noDescription}</p>
      </div>
      {state === 'changed' && differences.length > 0 && (
        <div className="field">
          <h3>{t.differences}</h3>
          <dl className="differences">
            {differences.map(({ path, from, to }) => (
              <div key={path}>
                <dt>
                  <code>{reveal(path)}</code>
                </dt>
                <dd>
                  {from !== null && <del>{reveal(from)}</del>}
                  {to !== null && <ins>{reveal(to)}</ins>}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      )}
      <details>
        <summary>{t.definition}</summary>
        {/* Reached by keyboard, because a long definition scrolls. */}
        <pre className="definition" tabIndex={0} aria-label={t.definition}>
          {reveal(JSON.stringify(definition, null, 2))}
        </pre>
      </details>
    </>
  );
}
