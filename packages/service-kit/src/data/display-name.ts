/** Matches controls, line and paragraph separators, lone surrogates, and characters that reverse the text around them. */
const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Matches a visible character: neither blank nor ignorable nor unassigned; U+2800 is the blank of Braille. */
const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Returns whether a name can be displayed beside others: on one line, without changing their direction, and visibly.
 * Joiners inside a name (Persian, emoji) are allowed.
 */
export const isDisplayName = (text: string): boolean => !forbidden.test(text) && visible.test(text);

/* The same in a form that the tools of other languages can read: with a letter of a common script, a digit or a sign. */
const ALLOWED = String.raw`[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]`;
const COMMON = String.raw`[!-~\u00a1-\u00ac\u00ae-\u024f\u0391-\u03a1\u03b1-\u03c9\u0400-\u045f\u05d0-\u05ea\u0620-\u064a\u0905-\u0939\u0e01-\u0e30\u1e00-\u1eff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]`;
export const DISPLAY_NAME_PATTERN = `^${ALLOWED}*${COMMON}${ALLOWED}*$`;
