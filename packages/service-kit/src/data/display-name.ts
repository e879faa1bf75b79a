/** Controls, line and paragraph separators, lone surrogates, and what turns the direction of the text round it. */
const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Something to see: neither blank nor ignorable nor unassigned; the last is the blank of Braille. */
const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Whether a name can be shown beside others: on one line, in its own direction, and not as nothing. Joiners inside a
 * name (Persian, emoji) are fine.
 */
export const isDisplayName = (text: string): boolean => !forbidden.test(text) && visible.test(text);
