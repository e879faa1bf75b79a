import type { AccessRules } from './access.js';

export type DocumentFormat = 'markdown' | 'html' | 'text';

/** A document as it is in its source. */
export interface SourceDocument {
  readonly path: string;
  /** Changes with every change of the document. */
  readonly fingerprint: string;
  readonly format: DocumentFormat;
  /** Of a file that has one beside its text. */
  readonly title?: string | undefined;
  readonly content: string;
}

export const MAX_DOCUMENT_BYTES = 1_048_576;

/** A document that is listed but not read yet. */
export interface Entry {
  readonly path: string;
  /** Changes with every change of the document. */
  readonly fingerprint: string;
  readonly bytes: number;
}

export interface Listing {
  /** Changes with every change of the source: a hash of the list, or a commit. */
  readonly version: string;
  /** Sorted by path. */
  readonly entries: readonly Entry[];
  /** The paths of documents that are too large. */
  readonly tooLarge: readonly string[];
  /** Documents, and folders with everything below them, that could not be examined. */
  readonly unreadable: readonly string[];
  /** Who may find which document. */
  readonly access: AccessRules;
  /** When the oldest and the newest document were changed, as far as the source knows. */
  readonly oldestAt?: Date | undefined;
  readonly newestAt?: Date | undefined;
}

/** Where a connector reads from. */
export interface Source {
  /** What is crawled, for the members who search it. */
  readonly description: string;
  /** @throws Error when the source is unreachable; nothing is deleted then. */
  list(signal: AbortSignal): Promise<Listing>;
  /** @returns the documents that could be read, and why others could not. The content of binary ones is undefined. */
  read(
    entries: readonly Entry[],
    signal: AbortSignal,
  ): Promise<readonly (SourceDocument | Binary | UnreadDocument)[]>;
}

export interface UnreadDocument {
  readonly path: string;
  readonly fingerprint: string;
  readonly content: undefined;
  /** Why it could not be read, as a sentence. */
  readonly failure: string;
  /** Whether it stays so until the document changes. */
  readonly isLasting: boolean;
}

export interface Binary {
  readonly path: string;
  readonly content: undefined;
}

/** Orders paths in the same way everywhere, whatever the locale is. */
export const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  one.path < other.path ? -1 : one.path > other.path ? 1 : 0;

export function toFormat(path: string): DocumentFormat {
  if (/\.(?:md|markdown)$/i.test(path)) return 'markdown';
  return /\.html?$/i.test(path) ? 'html' : 'text';
}
