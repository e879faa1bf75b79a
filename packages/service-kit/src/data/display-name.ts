/** Matches controls, line and paragraph separators, lone surrogates, and characters that reverse the text around them. */
const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Matches a visible character: neither blank nor ignorable nor unassigned; U+2800 is the blank of Braille. */
const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Returns whether a name can be displayed beside others: on one line, without changing their direction, and visibly.
 * Joiners inside a name (Persian, emoji) are allowed.
 */
export const isDisplayName = (text: string): boolean => !forbidden.test(text) && visible.test(text);
