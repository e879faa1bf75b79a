/** The text of an alert about a token, for `toTokenAlertEmail`. */
interface Alert extends Record<string, string> {
  readonly headline: string;
  readonly message: string;
}

export const describeReuse = (name: string, isFamilyRevoked: boolean): Alert => ({
  headline: 'A replaced access token was used',
  message: [
    `Somebody used the access token "${name}" after it had been replaced by a rotation, and was refused.`,
    'If no program of yours still has the old value, it may have been stolen.',
    isFamilyRevoked
      ? 'The token that replaced it was revoked, with all that both created: your organisation demands it.'
      : 'If you are not sure, revoke the token that replaced it.',
  ].join(' '),
});

export const describeGrantReuse = (client: string): Alert => ({
  headline: 'An application was disconnected',
  message: [
    `Somebody used an old token or code of the application "${client}" again, after it had been replaced.`,
    'It may have been stolen, so the access of the application to your account has ended.',
    'If you use the application, connect it again.',
  ].join(' '),
});

export const describeLeak = (name: string, owner: string, url: string | null): Alert => ({
  headline: 'A leaked access token was revoked',
  message: [
    `The access token "${name}" of ${owner} was reported as leaked.`,
    'It was revoked, with the tokens that it created.',
    ...(url === null ? [] : [`It was found at ${url}`]),
  ].join(' '),
});
