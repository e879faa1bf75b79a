/*
 * The rule for names is explicit, in ranges: the same at every version of Unicode, and in OpenAPI documents, whose patterns most
 * languages can only read without properties (`\p{…}`) and without characters beyond U+FFFF.
 */

/** Controls, line and paragraph separators, and characters that reverse the text around them. */
const FORBIDDEN = String.raw`\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;

/**
 * Characters that cannot be seen: the forbidden ones, blanks (that of Braille too), fillers, ignorable ones such as joiners and
 * variation selectors, those for private use, and those that are none.
 */
const INVISIBLE = String.raw`\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff`;
/** Those beyond U+FFFF: of shorthand, music and tags, and for private use. */
const INVISIBLE_BEYOND = String.raw`\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}`;

const forbidden = new RegExp(String.raw`[${FORBIDDEN}\ud800-\udfff]`, 'u');
const visible = new RegExp(`[^${INVISIBLE}${INVISIBLE_BEYOND}]`, 'u');

/** Returns whether a text can be displayed beside others: on one line, without changing their direction. It may be empty. */
export const isDisplayText = (text: string): boolean => !forbidden.test(text);

/**
 * Returns whether a name can be displayed beside others: as {@link isDisplayText} says, and visibly. Joiners inside a name
 * (Persian, emoji) are allowed.
 */
export const isDisplayName = (text: string): boolean => isDisplayText(text) && visible.test(text);

/* The same in a form that other languages can read. It lets lone surrogates and names of INVISIBLE_BEYOND alone pass. */
export const DISPLAY_TEXT_PATTERN = `^[^${FORBIDDEN}]*$`;
export const DISPLAY_NAME_PATTERN = `^[^${FORBIDDEN}]*[^${INVISIBLE}][^${FORBIDDEN}]*$`;
