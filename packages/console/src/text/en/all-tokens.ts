/** The texts of the list of everybody’s tokens. */
export const allTokens = {
  intro:
    'The tokens of everybody in your organisation, those of service accounts and of removed members included.',
  owner: 'Owner',
  serviceAccount: 'Service account',
  ownerRemoved: 'Removed',
  emptyTitle: 'Nobody has a token',
  emptyAdvice: 'Members create tokens themselves, under “My tokens”.',
};
