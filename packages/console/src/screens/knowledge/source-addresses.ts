/** The address of a source in this console. */
export interface SourceAddress {
  readonly of: string;
  /** The run that has brought the document. */
  readonly run: string | undefined;
}

/** A piece of a text; one with a source is the address of it. */
export interface TextPart {
  readonly text: string;
  readonly source?: SourceAddress;
}

const ADDRESS = /https?:\/\/[^\s<>"')]+/g;
/** Ends the sentence that an address stands in. */
const PUNCTUATION = /[.,;:!?\]}]+$/;

/** @returns undefined for what isn't valid percent-encoding: the text is another server's. */
function decode(key: string): string | undefined {
  try {
    return decodeURIComponent(key);
  } catch {
    return undefined;
  }
}

function readSource(address: string, origin: string): SourceAddress | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, key = ''] = /^\/knowledge\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
  const of = decode(key);
  if (!url || url.origin !== origin || !of) return undefined;
  return { of, run: url.searchParams.get('run') ?? undefined };
}

/**
 * Splits a text at the addresses of sources.
 *
 * @param origin - of the console; addresses elsewhere stay text.
 */
export function splitAtSources(text: string, origin: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const address = match.replace(PUNCTUATION, '');
    const source = readSource(address, origin);
    if (!source) continue;
    parts.push({ text: text.slice(end, index) }, { text: address, source });
    end = index + address.length;
  }
  return [...parts, { text: text.slice(end) }];
}
