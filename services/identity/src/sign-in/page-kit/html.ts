/** Text that is HTML already. Only {@link html} makes it, so that nothing else gets into a page unescaped. */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function toText(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(toText).join('');
  return String(part).replaceAll(/["&'<>]/g, (character) => escapes[character] ?? '');
}

/** Builds HTML from a template. Values are escaped, for text and for quoted attributes, unless they are HTML already. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(strings.map((text, index) => text + toText(parts[index])).join(''));
