import { mcpServers } from '#text/mcp-servers';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { SelectInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Effects } from '../tools/effects.tsx';
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

export type Scope = 'rules' | 'kb:read' | 'semantic:write' | 'none';

/**
 * Returns the choice that a decision begins with: the one that was made, then that of the rules. Where neither says anything, it
 * is the permission that fits what the tool says of itself, so that an approval puts it in effect.
 */
export function suggestScope({ scope, effectiveScope, hints }: ToolDetail): Scope {
  if (scope !== null) return scope;
  if (effectiveScope !== null) return 'rules';
  return hints['readOnlyHint'] === true ? 'kb:read' : 'semantic:write';
}

interface ScopeInputProps {
  readonly tool: ToolDetail;
  readonly value: Scope;
  onChange(scope: Scope): void;
}

/** Who sees a tool and can call it, by the permission that it needs. */
export function ScopeInput({ tool, value, onChange }: ScopeInputProps) {
  const byRules = tool.scope === null ? (tool.effectiveScope ?? undefined) : undefined;
  const isSuggested = tool.scope === null && tool.effectiveScope === null;
  const options = [
    ['kb:read', t.scopes['kb:read']],
    ['semantic:write', t.scopes['semantic:write']],
    ['rules', tool.scope === null ? t.scopes.rules(byRules) : t.scopes.byRules],
    ['none', t.scopes.none],
  ] as const;
  return (
    <SelectInput<Scope>
      label={t.scope}
      value={value}
      options={options}
      onChange={onChange}
      {...(isSuggested && {
        hint: tool.hints['readOnlyHint'] === true ? t.suggested.reads : t.suggested.writes,
      })}
    />
  );
}

/** Returns the decision that approves what is shown: should it change meanwhile, nothing is approved. */
export const toApproval = ({ name, hash }: ToolDetail, scope: Scope) => ({
  name,
  scope: scope === 'rules' ? null : scope,
  ...(hash !== null && { approve: hash }),
});

export const isWaiting = ({ state }: ToolDetail): boolean => state === 'new' || state === 'changed';

interface DecisionProps {
  readonly serverId: string;
  readonly tool: ToolDetail;
  onClose(): void;
}

function Decision({ serverId, tool, onClose }: DecisionProps) {
  const { name } = tool;
  const [scope, setScope] = useState(suggestScope(tool));
  const waits = isWaiting(tool);
  return (
    <ActionForm
      action={waits ? t.approve : t.save}
      changes={['mcp-servers']}
      act={(form) =>
        unwrap(
          identity.PATCH('/api/v1/mcp-servers/{id}/tools', {
            params: { path: { id: serverId } },
            body: {
              tools: [
                waits
                  ? { ...toApproval(tool, scope), ...readAccess(form) }
                  : { name, scope: scope === 'rules' ? null : scope, ...readAccess(form) },
              ],
            },
          }),
        )
      }
      describe={() => (waits ? t.approved(name) : t.saved(name))}
      onClose={onClose}
    >
      {waits && <p>{t.hidden}</p>}
      <Definition tool={tool} />
      <ScopeInput tool={tool} value={scope} onChange={setScope} />
      <AccessInput allowed={tool.allowedGroups} />
    </ActionForm>
  );
}

/** What a tool says of itself, and what has changed in that since it was approved. */
export function Definition({ tool }: { tool: ToolDetail }) {
  const { offered, approved, differences, state, flags, hints } = tool;
  const definition = offered ?? approved;
  const description = definition?.['description'];
  return (
    <>
      {flags.map((flag) => (
        <p key={flag} className="problem">
          {t.flagged[flag]}
        </p>
      ))}
      <Effects annotations={hints} />
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
