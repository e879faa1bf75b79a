import { canHoldScope, hasScope, type UserPrincipal } from '@platform/auth';
import type { Tool } from './tool.js';

type Needs = Pick<Tool, 'name' | 'scopes' | 'isAdminOnly' | 'isTokenOnly'>;

/** The authority of the tool's REST endpoint, before it is asked. What isn't certain is no. */
export const canCall = (principal: UserPrincipal, tool: Needs): boolean =>
  tool.scopes.every((scope) => hasScope(principal, scope)) &&
  (!tool.isAdminOnly || principal.role === 'admin') &&
  (!tool.isTokenOnly || principal.kind === 'pat');

/** By itself, or through its scopes. */
const needsAdmin = ({ isAdminOnly, scopes }: Needs): boolean =>
  isAdminOnly || scopes.some((scope) => !canHoldScope(scope, 'member'));

/** Says what the credential lacks, so that its owner can make one that doesn't. */
export function describeNeeds(principal: UserPrincipal, tool: Needs): string {
  const isScopeTold = principal.kind === 'pat' || tool.isTokenOnly === true;
  return [
    `This credential can not call ${tool.name}.`,
    ...(tool.isTokenOnly ? ['It needs a personal access token.'] : []),
    ...(isScopeTold ? [`It needs the scopes: ${tool.scopes.join(', ')}.`] : []),
    ...(needsAdmin(tool) ? ['It needs an administrator.'] : []),
  ].join(' ');
}
