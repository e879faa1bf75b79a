import { createPublicKey } from 'node:crypto';
import { canDelegateScope, canServiceAccountHoldScope, isScope, type Role } from '@platform/auth';
import { type FaultDetail, validationError } from '@platform/service-kit';
import { isSafeRedirect } from '../provider/client-metadata.js';
import { privateMembers } from './schemas.js';

/*
 * Pure rules for what an application may be. They follow OAuth 2.1: exact redirect URIs over TLS or to the own machine,
 * and no client credentials grant for a public client.
 */

export interface ApplicationShape {
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly authMethod: string;
  readonly jwks: { readonly keys: readonly Record<string, unknown>[] } | null;
  /** The role of the service account. */
  readonly role: Role;
  /** Whether it is limited to servers, tools or connectors when it acts as its service account. */
  readonly isLimited: boolean;
}

/** Returns whether it is a public key that signatures can be verified with (RFC 7517). */
function isPublicKey(key: Record<string, unknown>): boolean {
  if (privateMembers.some((name) => name in key)) return false;
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

function findRedirectFault(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (!url || url.hash !== '' || uri.endsWith('#')) return 'must be an absolute URL without a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  return isSafeRedirect(uri) ? undefined : 'must be https:, or http: of a loopback address, in ASCII';
}

function findScopeFault(scope: string, { grantTypes, role }: ApplicationShape): string | undefined {
  if (!isScope(scope)) return `unknown scope ${JSON.stringify(scope)}`;
  const isForPeople = grantTypes.includes('authorization_code');
  if (isForPeople && canDelegateScope(scope, 'admin')) return undefined;
  if (isForPeople) return `${scope} cannot be given to an application`;
  return canServiceAccountHoldScope(scope, role)
    ? undefined
    : `${scope} cannot be held by a service account ${role === 'admin' ? '' : 'that is not an administrator'}`.trim();
}

function findAuthFaults({ grantTypes, authMethod, jwks }: ApplicationShape): FaultDetail[] {
  const faults: FaultDetail[] = [];
  if (authMethod === 'none' && grantTypes.includes('client_credentials'))
    faults.push({ field: 'authMethod', message: 'a public client cannot use client_credentials' });
  if ((authMethod === 'private_key_jwt') !== (jwks !== null))
    faults.push({ field: 'jwks', message: 'is required with private_key_jwt, and with that alone' });
  for (const [index, key] of (jwks?.keys ?? []).entries())
    if (!isPublicKey(key)) faults.push({ field: `jwks.keys.${index}`, message: 'must be a public key' });
  return faults;
}

/** @throws AppError 400 that names every fault. */
export function assertApplication(shape: ApplicationShape): void {
  const { grantTypes, redirectUris, scopes, isLimited } = shape;
  const isCodeClient = grantTypes.includes('authorization_code');
  const faults = findAuthFaults(shape);
  if (grantTypes.includes('refresh_token') && !isCodeClient)
    faults.push({ field: 'grantTypes', message: 'refresh_token requires authorization_code' });
  if (isCodeClient !== redirectUris.length > 0)
    faults.push({ field: 'redirectUris', message: 'go with authorization_code: give both, or neither' });
  if (isLimited && !grantTypes.includes('client_credentials'))
    faults.push({ field: 'bounds', message: 'go with client_credentials' });
  for (const [index, uri] of redirectUris.entries()) {
    const message = findRedirectFault(uri);
    if (message !== undefined) faults.push({ field: `redirectUris.${index}`, message });
  }
  for (const [index, scope] of scopes.entries()) {
    const message = findScopeFault(scope, shape);
    if (message !== undefined) faults.push({ field: `scopes.${index}`, message });
  }
  if (faults.length > 0) throw validationError(faults);
}
