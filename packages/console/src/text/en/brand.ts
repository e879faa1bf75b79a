import { createTexts } from '../isolate.ts';

/** The texts of the settings of the brand. */
export const brand = createTexts({
  intro: 'What the mails of your organisation look like. The templates show it, with your own data.',
  name: 'Name',
  nameHint: 'Above and below each mail. Leave it empty for the name of the organisation.',
  logo: 'Logo',
  logoHint: 'A PNG of at most 64 KiB. It is sent with each mail and shown at most 48 pixels high.',
  chooseLogo: 'Choose a file…',
  removeLogo: 'Remove the logo',
  hasLogo: (size: string) => `A logo of ${size} kB.`,
  noLogo: 'No logo: mails show the name.',
  tooLarge: 'The file is no PNG of at most 64 KiB.',
  accentColor: 'Colour of buttons',
  accentHint: 'Such as #2f5bd7.',
  accentFault: 'It must be # and six digits from 0 to f.',
  footer: 'Address in the foot',
  footerHint: 'One line, such as the postal address.',
  replyTo: 'Reply address',
  replyToHint: 'Where answers to mails go. Leave it empty for the sender.',
  language: 'Language of mails',
  languageHint: 'Of all mails of the platform, apart from those to members who have chosen another language.',
  languages: { en: 'English', de: 'German' },
  saved: 'The brand is saved. Mails have it within a minute.',
  preview: 'See the templates',
});
