import { DISPLAY_NAME_PATTERN, DISPLAY_TEXT_PATTERN, isDisplayName, isDisplayText } from './display-name.js';
import { DOMAIN_PATTERN, EMAIL_ADDRESS_PATTERN, readDomain, readEmailAddress } from './email-address.js';

/** Matches control characters and line separators, which could end a line early. */
const control = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f\u2028\u2029`;

interface TextFormat {
  readonly isValid: (text: string) => boolean;
  /** Completes the sentence that begins with the name of the field. */
  readonly fault: string;
  /** The keywords of OpenAPI documents, for the tools of other languages. */
  readonly documented: { readonly format?: string; readonly pattern: string };
}

/** The formats that schemas can name, besides those of JSON Schema. */
export const textFormats: Readonly<Record<string, TextFormat>> = {
  email: {
    isValid: (text) => readEmailAddress(text) !== undefined,
    fault: 'must be an e-mail address',
    // Unicode is accepted (RFC 6531), which many tools refuse in an `email`.
    documented: { format: 'idn-email', pattern: EMAIL_ADDRESS_PATTERN },
  },
  domain: {
    isValid: (text) => readDomain(text) !== undefined,
    fault: 'must be a domain name',
    documented: { pattern: DOMAIN_PATTERN },
  },
  'display-name': {
    isValid: isDisplayName,
    fault: 'must have a visible character, and no control or bidirectional ones',
    documented: { pattern: DISPLAY_NAME_PATTERN },
  },
  'display-text': {
    isValid: isDisplayText,
    fault: 'must not contain control or bidirectional characters',
    documented: { pattern: DISPLAY_TEXT_PATTERN },
  },
  line: {
    isValid: (text) => !control.test(text) && text.trim() !== '',
    fault: 'must not be blank, and must not contain control characters',
    documented: { pattern: `^[^${CONTROLS}]*[^${CONTROLS}\\s][^${CONTROLS}]*$` },
  },
};

/** The keywords of an instant in a request. A leap second is refused, as JavaScript has no time for it. */
export const givenInstant = { format: 'date-time', 'x-documented': { pattern: '^.{17}[0-5]' } } as const;
