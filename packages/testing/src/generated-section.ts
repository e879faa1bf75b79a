const hasItems = (content: string): boolean => /^(?:- |\| )/m.test(content);
/** A line below the head of a table that no row follows. */
const emptyTable = /^\|[ :|-]+\|\n(?!\|)/m;

/**
 * Replaces what a program has written into a document, between `<!-- name -->` and `<!-- /name -->`.
 *
 * @param content lists and tables in Markdown
 * @throws Error when the document has no such place, or when a list or table would be empty: a test that compares nothing
 * with nothing passes.
 */
export function replaceGenerated(markdown: string, name: string, content: string): string {
  const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const [before, inside, ...others] = markdown.split(start);
  const endsAt = inside?.indexOf(end) ?? -1;
  if (before === undefined || inside === undefined || others.length > 0 || endsAt < 0)
    throw new Error(`the document must have one place between "${start.trim()}" and "${end}"`);
  if (!hasItems(content) || emptyTable.test(`${content}\n`))
    throw new Error(`there is nothing to put between "${start.trim()}" and "${end}"`);
  return `${before}${start}\n${content.trim()}\n\n${inside.slice(endsAt)}`;
}
