import { createTexts } from '../isolate.ts';

/** The texts of a person's own account. */
export const account = createTexts({
  intro: 'How you sign in, and where you are signed in.',
  name: 'Name',
  email: 'E-mail',
  role: 'Role',
  version: 'Version of the platform',
  signIn: 'Sign-in',
  mails: 'Mails',
  appearance: {
    title: 'Appearance',
    theme: 'Theme',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    zone: 'Times are shown in',
    zones: { browser: (zone: string) => `The zone of this browser (${zone})`, utc: () => 'UTC' },
    hint: 'For this browser alone. Hours count to 24.',
  },
  fullName: {
    change: 'Change name…',
    dialog: 'Change your name',
    hint: 'As the others in your organisation see it.',
    submit: 'Change name',
    changed: (name: string) => `Your name is now ${name}.`,
  },
  language: {
    title: 'Language of mails',
    intro: (language: string) => `The platform writes to you in ${language}.`,
    organisation: 'the language of your organisation',
    ofOrganisation: 'That of the organisation',
    names: { en: 'English', de: 'German' },
    change: 'Change language…',
    dialog: 'Change the language of your mails',
    label: 'Language',
    submit: 'Change language',
    changed: 'Your mails have another language from now on.',
  },
  password: {
    title: 'Password',
    intro: 'Changing it ends all your other sessions. Your tokens keep working.',
    change: 'Change password…',
    dialog: 'Change your password',
    current: 'Current password',
    next: 'New password',
    nextHint: 'At least 8 characters. A long phrase is better than a short riddle.',
    again: 'New password, again',
    mismatch: 'The two new passwords differ.',
    submit: 'Change password',
    changed: (count: number) =>
      count === 0
        ? 'Your password is changed.'
        : `Your password is changed, and ${count === 1 ? 'one other session has' : `${count} other sessions have`} ended.`,
  },
  secondFactor: {
    title: 'Second factor',
    app: 'An authenticator app, since',
    passkeys: (names: readonly string[]) =>
      `${names.length === 1 ? 'A passkey' : `${names.length} passkeys`}: ${names.join(', ')}.`,
    codesLeft: (count: number) =>
      count === 0
        ? 'No recovery code is left: create new ones.'
        : `${count === 1 ? 'One recovery code is' : `${count} recovery codes are`} left.`,
    off: 'You have none. With one, a stolen password is not enough to sign in as you.',
    required: 'Your organisation requires one: you set it up at your next sign-in.',
    unknown: 'Its state can’t be read now.',
    change: 'Change',
    setUp: 'Set up',
  },
  provider: {
    title: 'Identity provider',
    connected: (host: string) => `You sign in with ${host}. Connected since`,
    required: 'Your organisation requires it.',
    disconnect: 'Disconnect…',
    dialog: 'Disconnect your account?',
    warning:
      'You then sign in with your password; if you never chose one, use “Forgot the password?”. Your other sessions that the provider opened end, and your next sign-in with it connects the account again.',
    submit: 'Disconnect',
    done: 'Your account is disconnected.',
  },
  sessions: {
    title: 'Sessions',
    columns: { client: 'Where', address: 'Address', opened: 'Signed in', ends: 'Ends' },
    unknownAddress: 'Unknown',
    current: 'This session',
    end: 'End the session…',
    endTitle: (client: string) => `End the session of ${client}?`,
    endWarning: 'It is signed out at once. What is not saved there is lost.',
    endSubmit: 'End the session',
    ended: 'The session has ended.',
    endOthers: 'End all others…',
    endOthersTitle: 'End all your other sessions?',
    endOthersWarning:
      'You stay signed in here, and are signed out everywhere else. Your tokens keep working.',
    endOthersSubmit: 'End all others',
    othersEnded: (count: number) =>
      count === 1 ? 'One session has ended.' : `${count} sessions have ended.`,
    endOfTitle: (name: string) => `End all sessions of ${name}?`,
    endOfWarning: 'They are signed out everywhere at once. Their tokens keep working.',
    endOfSubmit: 'End all sessions',
    emptyTitle: 'There are no open sessions',
  },
});
