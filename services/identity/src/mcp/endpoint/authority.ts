import {
  type AccountPrincipal,
  canDelegateScope,
  canHoldScope,
  canServiceAccountHoldScope,
  hasScope,
} from '@platform/auth';
import type { Tool } from './tool.js';

type ToolRequirements = Pick<Tool, 'name' | 'scopes' | 'isAdminOnly' | 'isTokenOnly'>;

/** Returns whether the credential has the authority that the tool's REST endpoint requires. */
export const canCall = (principal: AccountPrincipal, tool: ToolRequirements): boolean =>
  tool.scopes.every((scope) => hasScope(principal, scope)) &&
  (!tool.isAdminOnly || principal.role === 'admin') &&
  (!tool.isTokenOnly || principal.kind !== 'session');

/** Returns whether only administrators can call the tool, either by its own rule or because of its scopes. */
const needsAdmin = ({ isAdminOnly, scopes }: ToolRequirements): boolean =>
  isAdminOnly || scopes.some((scope) => !canHoldScope(scope, 'member'));

/** Describes exactly what the credential lacks, so that its owner can create a sufficient one. */
export function describeMissingAuthority(principal: AccountPrincipal, tool: ToolRequirements): string {
  const { kind, role, grantedScopes } = principal;
  const missing = kind === 'session' ? [] : tool.scopes.filter((scope) => !grantedScopes.has(scope));
  return [
    `This credential cannot call ${tool.name}.`,
    ...(tool.isTokenOnly && kind === 'session'
      ? [`It is a session: use a personal access token with the scopes: ${tool.scopes.join(', ')}.`]
      : []),
    ...(missing.length > 0 ? [`It lacks the scopes: ${missing.join(', ')}.`] : []),
    ...(needsAdmin(tool) && role !== 'admin' ? ['Its owner is not an administrator.'] : []),
  ].join(' ');
}

/** Returns the scopes of the tool that the credential lacks and could be given. */
export function findMissingScopes(
  principal: AccountPrincipal,
  { scopes }: Pick<Tool, 'scopes'>,
): readonly string[] {
  const canGet = principal.isServiceAccount ? canServiceAccountHoldScope : canDelegateScope;
  return scopes.filter((scope) => !hasScope(principal, scope) && canGet(scope, principal.role));
}
