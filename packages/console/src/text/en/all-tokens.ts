/** The texts of the list of everybody’s tokens. */
export const allTokens = {
  intro: 'The active tokens of everybody in your organisation, those of removed members included.',
  owner: 'Owner',
  ownerRemoved: 'Removed',
  emptyTitle: 'Nobody has a token',
  emptyAdvice: 'Members create tokens themselves, under “My tokens”.',
};
