/* Characters that a person doesn't see and a model reads: the same as identity's flag `hidden_characters`. */
const HIDDEN = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\u{E0100}-\u{E01EF}]|[^\P{Cc}\n\r\t]/gu;

/** Writes hidden characters as codes. */
export const reveal = (text: string): string =>
  text.replace(HIDDEN, (found) => `\\u{${found.codePointAt(0)?.toString(16).toUpperCase()}}`);
