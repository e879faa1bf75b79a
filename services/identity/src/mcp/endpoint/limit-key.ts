import type { AccountPrincipal } from '@platform/auth';

/**
 * Returns the key that limits of a credential count by. An OAuth client renews its access tokens, so it is counted as one
 * for each account that it acts for.
 */
export const toLimitKey = ({
  credentialId,
  clientId,
  userId,
}: Pick<AccountPrincipal, 'credentialId' | 'clientId' | 'userId'>): string =>
  clientId === undefined ? credentialId : `${clientId} ${userId}`;
