/** A part of a page: a heading and the text up to the next one. */
export interface Section {
  /** The heading without its `#`; empty for text before the first heading. */
  readonly heading: string;
  /** The text as written, including the line of the heading. */
  readonly text: string;
}

export interface Page {
  readonly title: string;
  readonly sections: readonly Section[];
}

/** Longer sections are split, since PostgreSQL indexes no text of more than 1 MiB, and a part should be readable. */
const MAX_SECTION_CHARACTERS = 8_000;
const MAX_TITLE_CHARACTERS = 200;

const headingForm = /^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$/;
const fenceForm = /^ {0,3}(`{3,}|~{3,})/;

/** Splits Markdown at its headings, except those inside code blocks. */
function splitAtHeadings(markdown: string): Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }];
  let fence: string | undefined;
  for (const line of markdown.split(/\r?\n/)) {
    const mark = fenceForm.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    const heading = fence === undefined ? headingForm.exec(line)?.[1] : undefined;
    if (heading !== undefined) sections.push({ heading, lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections
    .map(({ heading, lines }) => ({
      heading: cut(heading, MAX_TITLE_CHARACTERS),
      text: lines.join('\n').trim(),
    }))
    .filter(({ text }) => text !== '');
}

/** Cuts text after at most `length` characters, but not within a surrogate pair. */
const cut = (text: string, length: number): string =>
  text.slice(0, /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? length - 1 : length);

/** Splits at a blank line, the end of a line or a space in the second half of a part, in this order, if there is one. */
function splitLong({ heading, text }: Section): Section[] {
  const parts: Section[] = [];
  let rest = text;
  while (rest.length > MAX_SECTION_CHARACTERS) {
    const part = cut(rest, MAX_SECTION_CHARACTERS);
    const end = ['\n\n', '\n', ' ']
      .map((separator) => part.lastIndexOf(separator))
      .find((index) => index > MAX_SECTION_CHARACTERS / 2);
    parts.push({ heading, text: part.slice(0, end).trimEnd() });
    // The indentation of the next line stays.
    rest = rest.slice(end ?? part.length).replace(/^(?:[ \t]*\n)+|^ +/, '');
  }
  if (rest !== '') parts.push({ heading, text: rest });
  return parts;
}

/** Splits a page of Markdown. */
export function parsePage(markdown: string, title: string): Page {
  // PostgreSQL cannot store NUL.
  const sections = splitAtHeadings(markdown.replaceAll('\0', ''));
  return { title: cut(title, MAX_TITLE_CHARACTERS), sections: sections.flatMap(splitLong) };
}

/** Text has no headings, even where a line begins with `#`. */
export const parseText = (text: string, title: string): Page => ({
  title: cut(title, MAX_TITLE_CHARACTERS),
  sections: splitLong({ heading: cut(title, MAX_TITLE_CHARACTERS), text: text.trim() }),
});
