/** The text of an alert, for `toTokenAlertEmail`. One that is merged with others has more: see `mergeAlerts`. */
export interface Alert extends Record<string, string> {
  readonly headline: string;
  readonly message: string;
}

/** The mail after the last one of an hour about the same. */
export const describeMany = ({ headline }: Alert, limit: number): Alert => ({
  headline: 'There are more alerts of one kind',
  message: [
    `You were mailed ${limit} times within an hour: "${headline}".`,
    'It happened again. For the rest of the hour, you are not mailed about it.',
  ].join(' '),
});

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
    'It was revoked, with the tokens that it created, and with those by which it replaced itself.',
    ...(url === null ? [] : [`It was found at ${url}`]),
  ].join(' '),
});

/** The account that a new token acts as: the reader of the mail, or a service account whose administrators read it. */
interface Subject {
  readonly accountName: string | undefined;
  readonly creator: { readonly fullName: string; readonly email: string };
}

/** Leaves room for ten items in a mail. */
const MAX_ITEM_NAME_LENGTH = 40;
const shorten = (name: string): string =>
  name.length <= MAX_ITEM_NAME_LENGTH ? name : `${name.slice(0, MAX_ITEM_NAME_LENGTH).toWellFormed()}…`;

/** It is merged with those about other tokens that are created within a minute. */
export const describeCreation = (
  { name, scopes }: { readonly name: string; readonly scopes: readonly string[] },
  expiresAt: Date | null,
  { accountName, creator }: Subject,
): Alert => {
  const holder = accountName === undefined ? 'you' : `the service account "${accountName}"`;
  const expiry = expiresAt === null ? 'never expires' : `expires on ${expiresAt.toISOString().slice(0, 10)}`;
  return {
    headline: `A new access token ${accountName === undefined ? '' : 'of a service account '}was created`,
    message: [
      `The access token "${name}" acts as ${holder}, with the scopes ${scopes.join(', ')}.`,
      `It ${expiry}.`,
      accountName === undefined
        ? 'If you did not create it, revoke it, and change your password.'
        : `${creator.fullName} (${creator.email}) created it. If that is unexpected, revoke it.`,
    ].join(' '),
    item: `"${shorten(name)}"${accountName === undefined ? '' : ` of "${shorten(accountName)}"`} (${expiry})`,
    manyHeadline: `# new access tokens ${accountName === undefined ? '' : 'of service accounts '}were created`,
    advice:
      accountName === undefined
        ? 'If you did not create all of them, revoke the others, and change your password.'
        : 'If that is unexpected, revoke them.',
  };
};

/** The mail after the last one about a single creation. */
export const describeManyCreations = (limit: number, accountName: string | undefined): Alert => ({
  headline: 'Many access tokens were created',
  message: [
    `More than ${limit} access tokens that act as ${accountName === undefined ? 'you' : 'service accounts'}`,
    'were created within an hour. For the rest of the hour, new ones are not mailed about.',
    'If they are unexpected, revoke them, and change your password.',
  ].join(' '),
});

/** It is merged with those about other rotations within a minute. */
export const describeRotation = (name: string): Alert => ({
  headline: 'An access token was rotated',
  message: [
    `A program replaced the access token "${name}" by a new value, with a token rather than a session of yours.`,
    'If no program of yours does that, the token may have been stolen: revoke it.',
  ].join(' '),
  item: `"${shorten(name)}"`,
  manyHeadline: '# access tokens were rotated',
  advice: 'If no program of yours does that, they may have been stolen: revoke them.',
});

/** The mail after the last one about a single rotation. */
export const describeManyRotations = (limit: number): Alert => ({
  headline: 'Access tokens were rotated many times',
  message: [
    `Programs replaced access tokens of yours more than ${limit} times within an hour.`,
    'For the rest of the hour, rotations are not mailed about. If they are unexpected, revoke the tokens.',
  ].join(' '),
});

export const describeRevocation = (
  { name, count }: { readonly name: string; readonly count: number },
  { fullName, email }: { readonly fullName: string; readonly email: string },
  reason: string | undefined,
): Alert => ({
  headline: 'An access token of yours was revoked',
  message: [
    `${fullName} (${email}) revoked the access token "${name}"${toOthers(count - 1)}.`,
    ...(reason === undefined ? [] : [`The reason: ${reason}`]),
  ].join(' '),
});

const toOthers = (count: number): string =>
  count === 0 ? '' : `, with ${count} ${count === 1 ? 'token' : 'tokens'} that it created`;

/** It is merged with those about other tokens of the same owner. */
export const describeUnusedRevocation = (name: string, days: number): Alert => ({
  headline: 'An unused access token was revoked',
  message: [
    `The access token "${name}" was not used for ${days} days.`,
    'It was revoked, as the policy of your organisation demands. You were told a week ago.',
  ].join(' '),
  item: `"${shorten(name)}"`,
  manyHeadline: '# unused access tokens were revoked',
  advice: `They were not used for ${days} days, and were revoked as the policy of your organisation demands.`,
});
