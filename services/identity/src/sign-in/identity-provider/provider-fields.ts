import type { SecretBox } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { secretRequired } from './errors.js';
import type { StoredProvider } from './queries.js';
import type { IdentityProvider, SaveIdentityProviderBody } from './schemas.js';

/** The context that binds the sealed secret to its organisation. */
export const clientSecretContext = (orgId: string): string => `identity-provider-secret:${orgId}`;

const DEFAULT_GROUPS_CLAIM = 'groups';
const DEFAULT_SCOPES = ['openid', 'email', 'profile'];

/** Converts the stored settings to what administrators see: never the secret. */
export const toProvider = (row: StoredProvider): IdentityProvider => ({
  issuer: row.issuer,
  clientId: row.clientId,
  scopes: row.scopes,
  secondFactorValues: row.secondFactorValues,
  justInTimeMembership: row.isJustInTime,
  required: row.isRequired,
  groupsClaim: row.groupsClaim,
  hasClientSecret: row.clientSecretSealed !== null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** The fields that the audit records, which never include the secret. */
export const toAudited = (row: StoredProvider) => ({
  issuer: row.issuer,
  clientId: row.clientId,
  scopes: row.scopes.join(' '),
  secondFactorValues: row.secondFactorValues.join(' '),
  justInTimeMembership: String(row.isJustInTime),
  required: String(row.isRequired),
  groupsClaim: row.groupsClaim,
});
export const audited = [
  'issuer',
  'clientId',
  'scopes',
  'secondFactorValues',
  'justInTimeMembership',
  'required',
  'groupsClaim',
] as const;

/** Returns whether the provider may identify people by other subjects than before: some choose them for each client. */
export const isOther = (before: StoredProvider | null, after: StoredProvider): boolean =>
  before !== null && (before.issuer !== after.issuer || before.clientId !== after.clientId);

/**
 * Returns the settings to store. A client secret that is left out stays, but goes to no other provider than it was given
 * for.
 *
 * @throws AppError 400.
 */
export function toRow(
  { box, at }: { readonly box: SecretBox; readonly at: Date },
  orgId: string,
  body: SaveIdentityProviderBody,
  before: StoredProvider | null,
): StoredProvider {
  const row: StoredProvider = {
    orgId,
    issuer: body.issuer,
    clientId: body.clientId,
    clientSecretSealed: before?.clientSecretSealed ?? null,
    scopes: body.scopes ?? DEFAULT_SCOPES,
    secondFactorValues: body.secondFactorValues ?? [],
    isJustInTime: body.justInTimeMembership ?? false,
    isRequired: body.required ?? false,
    groupsClaim: body.groupsClaim === undefined ? DEFAULT_GROUPS_CLAIM : body.groupsClaim,
    revision: uuidv7(),
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
  };
  const { clientSecret } = body;
  if (clientSecret === undefined) {
    if (row.clientSecretSealed !== null && isOther(before, row)) throw secretRequired();
    return row;
  }
  const sealed = clientSecret === null ? null : box.seal(clientSecret, clientSecretContext(orgId));
  return { ...row, clientSecretSealed: sealed };
}
