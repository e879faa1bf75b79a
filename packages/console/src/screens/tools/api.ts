import { tools as t } from '#text/tools';
import type { IdentitySchemas } from '@platform/clients/types';
import type { Tone } from '../../ui/badge.tsx';

export type OrganisationTool = IdentitySchemas['schemas']['OrganisationTool'];
export type ToolUsage = IdentitySchemas['schemas']['ToolUsage'];
type Annotations = Readonly<Record<string, unknown>>;

interface Effect {
  readonly label: string;
  readonly tone: Tone;
}

/** Says what a tool does, by its annotations. Without `readOnlyHint`, MCP has it that a tool deletes unless it says otherwise. */
export function listEffects(annotations: Annotations): readonly Effect[] {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const outside: readonly Effect[] =
    openWorldHint === true ? [{ label: t.effects.outside, tone: 'neutral' }] : [];
  if (readOnlyHint === true) return [{ label: t.effects.reads, tone: 'good' }, ...outside];
  if (destructiveHint === true) return [{ label: t.effects.deletes, tone: 'bad' }, ...outside];
  if (destructiveHint === false || readOnlyHint === false)
    return [{ label: t.effects.adds, tone: 'notice' }, ...outside];
  return [{ label: t.effects.unknown, tone: 'notice' }, ...outside];
}

type State = keyof typeof t.states;

/** Returns why nobody can call a tool; undefined for one that somebody can call. */
export function findObstacle({ mounted, server }: OrganisationTool): State | undefined {
  if (!mounted) return undefined;
  if (mounted.state === 'withdrawn') return 'withdrawn';
  if (server?.isEnabled === false) return 'disabled';
  if (mounted.scope === 'none') return 'hidden';
  if (mounted.state !== 'approved') return mounted.state;
  return mounted.isInEffect ? undefined : 'hidden';
}

/** Whether a tool waits for an administrator. */
export const isWaiting = (tool: OrganisationTool): boolean =>
  ['new', 'changed'].includes(findObstacle(tool) ?? '');

const nameGroups = (groups: readonly { readonly name: string }[]): string =>
  groups.length === 0 ? t.who.nobody : t.who.groups(groups.map(({ name }) => name));

/** Says who may call a tool that is in effect. A server and its tool must both allow them. */
export function describeCallers({ server, mounted, isAdminOnly }: OrganisationTool): string {
  if (isAdminOnly) return t.who.admins;
  const [ofServer, ofTool] = [server?.allowedGroups ?? null, mounted?.allowedGroups ?? null];
  if (ofServer && ofTool) return t.who.both(nameGroups(ofServer), nameGroups(ofTool));
  const groups = ofServer ?? ofTool;
  return groups ? nameGroups(groups) : t.who.everybody;
}
