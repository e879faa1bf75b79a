import { createTexts } from '../isolate.ts';

/** The texts of how the members of an organisation sign in. */
export const signIn = createTexts({
  intro: 'How the members of your organisation sign in.',
  settings: 'For all members',
  secondFactor: {
    title: 'Second factor',
    required: 'Required. Members who have none set one up at their next sign-in.',
    optional: 'Each member decides.',
    require: 'Require…',
    release: 'Stop requiring…',
    requireTitle: 'Require a second factor of every member?',
    requireHint: 'Members who have none set one up at their next sign-in.',
    sessions: 'What happens to members who are signed in without one?',
    choices: {
      keep: { label: 'They stay signed in', hint: 'Until their sessions expire, after 24 hours at most.' },
      end: { label: 'They are signed out', hint: 'At once and everywhere. You stay signed in here.' },
    },
    requireSubmit: 'Require it',
    releaseTitle: 'Let members sign in without a second factor?',
    releaseWarning: 'A stolen password is then enough to sign in as a member who has none.',
    releaseSubmit: 'Stop requiring it',
    nowRequired: (ended: number) =>
      ended === 0
        ? 'A second factor is required.'
        : `A second factor is required, and ${ended === 1 ? 'one session has' : `${ended} sessions have`} ended.`,
    nowOptional: 'A second factor is no longer required.',
  },
  codes: {
    title: 'Codes by mail',
    on: 'Members can sign in with a code that is mailed to them, instead of their password.',
    off: 'Members need their password.',
    enable: 'Switch on…',
    disable: 'Switch off…',
    enableTitle: 'Let members sign in with mailed codes?',
    enableHint: 'Whoever reads a member’s mail then needs no password.',
    enableSubmit: 'Switch codes on',
    disableTitle: 'Switch mailed codes off?',
    disableHint: 'Members then need their password. Codes that were mailed before stop working at once.',
    disableSubmit: 'Switch codes off',
    enabled: 'Members can sign in with mailed codes.',
    disabled: 'Mailed codes are switched off.',
  },
});
