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
      heading: heading.slice(0, MAX_TITLE_CHARACTERS),
      text: lines.join('\n').trim(),
    }))
    .filter(({ text }) => text !== '');
}

function splitLong({ heading, text }: Section): Section[] {
  const parts: Section[] = [];
  for (let start = 0; start < text.length; start += MAX_SECTION_CHARACTERS)
    parts.push({ heading, text: text.slice(start, start + MAX_SECTION_CHARACTERS) });
  return parts;
}

/** @param fallbackTitle - for a page without a heading. */
export function parsePage(markdown: string, fallbackTitle: string): Page {
  // PostgreSQL cannot store NUL.
  const sections = splitAtHeadings(markdown.replaceAll('\0', ''));
  const title = sections.find(({ heading }) => heading !== '')?.heading ?? fallbackTitle;
  return { title: title.slice(0, MAX_TITLE_CHARACTERS), sections: sections.flatMap(splitLong) };
}

/** Text has no headings, even where a line begins with `#`. */
export const parseText = (text: string, title: string): Page => ({
  title: title.slice(0, MAX_TITLE_CHARACTERS),
  sections: splitLong({ heading: title.slice(0, MAX_TITLE_CHARACTERS), text: text.trim() }),
});
