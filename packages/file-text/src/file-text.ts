/** A place in a document that a link can name. */
export interface Anchor {
  /** The fragment of a URL, such as `page=2`, `slide=2` or `sheet=Costs`. */
  readonly name: string;
  /** Where it begins in the text. */
  readonly offset: number;
}

/** The text of a file, with the headings of Markdown. */
export interface FileText {
  readonly title: string | undefined;
  readonly text: string;
  /** In the order of the text. */
  readonly anchors: readonly Anchor[];
}

export const failureReasons = [
  'too_large',
  'expands_too_far',
  'too_much_text',
  'encrypted',
  'broken',
  'unsupported',
  'timeout',
  'memory',
] as const;
export type FailureReason = (typeof failureReasons)[number];

export interface FileFailure {
  readonly reason: FailureReason;
  /** A sentence for the log of a run. */
  readonly message: string;
}

export type FileResult = ({ readonly isOk: true } & FileText) | ({ readonly isOk: false } & FileFailure);

/** Thrown by the readers of formats. Any other error means that the file is broken. */
export class UnreadableFile extends Error {
  constructor(
    readonly reason: FailureReason,
    message: string,
  ) {
    super(message);
  }
}

/** The longest text, in characters. */
const MAX_TEXT_LENGTH = 10_000_000;

/** Joins a text of parts, of which some begin at an anchor. */
export function createTextBuilder() {
  const parts: string[] = [];
  const anchors: Anchor[] = [];
  let length = 0;
  return {
    add(text: string): void {
      length += text.length;
      if (length > MAX_TEXT_LENGTH)
        throw new UnreadableFile('too_much_text', `It has more than ${MAX_TEXT_LENGTH} characters of text`);
      parts.push(text);
    },
    anchor: (name: string): unknown => anchors.push({ name, offset: length }),
    build: (title: string | undefined): FileText => ({
      title: title?.trim() || undefined,
      text: parts.join(''),
      anchors,
    }),
  };
}
