export const policyPath = '/api/v1/organisation/token-policy';

/** The policy of an organisation that has set none. */
export const noPolicy = {
  allowList: [],
  maxLifetimeDays: null,
  allowsNever: true,
  deniedScopes: [],
  revokeFamilyOnReuse: false,
  revokeUnusedDays: null,
};
