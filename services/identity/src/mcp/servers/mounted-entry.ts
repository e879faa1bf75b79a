import type { ToolEntry } from '../endpoint/catalogue.js';
import { passedResult } from '../endpoint/tool-result.js';
import { parseDefinition } from './definition.js';
import { getEffectiveScope } from './gate.js';
import { toMountedName } from './server-name.js';
import type { MountedRow } from './tool.queries.js';
import type { CallUpstream } from './upstream/calls.js';

/**
 * Makes a tool in effect listable and callable. What an administrator has mapped it to decides whether it only reads;
 * the server's other hints are passed on, because they were approved with the definition.
 *
 * @returns undefined for a tool that is hidden.
 */
export function toMountedEntry(row: MountedRow, callUpstream: CallUpstream): ToolEntry | undefined {
  const { toolName, rules, definition: json, ...server } = row;
  const name = toMountedName(server.name, toolName);
  const scope = getEffectiveScope(toolName, row.scope, rules);
  if (name === undefined || scope === undefined) return undefined;
  const definition = parseDefinition(json);
  const readOnlyHint = scope === 'kb:read';
  const hints = definition.annotations;
  const annotations = {
    readOnlyHint,
    destructiveHint: hints?.destructiveHint ?? !readOnlyHint,
    idempotentHint: hints?.idempotentHint ?? readOnlyHint,
    openWorldHint: hints?.openWorldHint ?? true,
  };
  return {
    tool: { name, scopes: [scope], isAdminOnly: false, annotations },
    json: JSON.stringify({ ...definition, name, annotations }),
    // The server checks the arguments: the platform compiles no schema that a foreign server wrote.
    check: () => [],
    call: async (args, context) =>
      passedResult(await callUpstream({ server, toolName, scope, definition }, args, context)),
  };
}
