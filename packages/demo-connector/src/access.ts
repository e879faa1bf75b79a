import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { AccessEntry } from '@platform/crawl-worker/documents';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseDocument } from 'yaml';

/*
 * Who may find a document is said by files beside the documents: patterns of paths, each with the access list of the contract
 * of documents. A file is about its folder and everything below it; the nearest file with a pattern that matches decides, and
 * in it the most specific pattern. What no pattern matches is for nobody, as is everything that a broken file decides about.
 * Where there is no such file at all, the documents are for everyone.
 */

export const ACCESS_FILE = '.access.yaml';

const EVERYONE: readonly AccessEntry[] = [{ kind: 'everyone' }];
const NOBODY: readonly AccessEntry[] = [];

const Rules = Compile(
  Type.Record(
    Type.String({ minLength: 1 }),
    Type.Union([Type.Literal('everyone'), Type.Array(AccessEntry, { maxItems: 1_000 })]),
  ),
);

/** A file of access lists as it was found. */
export interface AccessFile {
  /** From the root of the source. */
  readonly path: string;
  /** Undefined when it cannot be read, or is no regular file. */
  readonly text: string | undefined;
}

interface Rule {
  readonly segments: readonly string[];
  /** The number of characters that are no wildcards: more make a pattern more specific. */
  readonly weight: number;
  readonly access: readonly AccessEntry[];
}

/** @throws Error that says what is wrong, and where. */
function parseRules(text: string | undefined): Rule[] {
  if (text === undefined) throw new Error('It cannot be read');
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault) throw new Error(fault.message.split('\n')[0]?.replace(/:$/, ''));
  const rules: unknown = document.toJS() ?? {};
  if (!Rules.Check(rules)) {
    const [error] = Rules.Errors(rules);
    throw new Error(`${error?.instancePath || 'the file'} ${error?.message ?? 'is wrong'}`);
  }
  return Object.entries(rules).map(([pattern, access]) => ({
    segments: toSegments(pattern.replace(/\/+$/, '')),
    weight: pattern.replaceAll('*', '').length,
    access: access === 'everyone' ? EVERYONE : access,
  }));
}

/** Some file systems decompose letters with accents. */
const toSegments = (path: string): string[] => path.normalize('NFC').split('/');

/**
 * Matches with the algorithm of two pointers, which goes back to the last wildcard only: patterns of others cannot make it
 * slow.
 */
function matches<T>(
  pattern: readonly T[],
  items: readonly T[],
  isWildcard: (part: T) => boolean,
  isMatch: (part: T, item: T) => boolean,
): boolean {
  let [at, item, wildcard, resumeAt] = [0, 0, -1, 0];
  while (item < items.length) {
    const part = pattern[at];
    if (part !== undefined && isWildcard(part)) {
      wildcard = at;
      at += 1;
      resumeAt = item;
    } else if (part !== undefined && isMatch(part, items[item] as T)) {
      at += 1;
      item += 1;
    } else if (wildcard >= 0) {
      at = wildcard + 1;
      resumeAt += 1;
      item = resumeAt;
    } else return false;
  }
  return pattern.slice(at).every(isWildcard);
}

const matchesName = (pattern: string, name: string): boolean =>
  matches(
    // By UTF-16 code units, on both sides.
    pattern.split(''),
    name.split(''),
    (part) => part === '*',
    (part, character) => part === character,
  );

/** A pattern that matches a folder matches everything in it. */
const matchesPath = (pattern: readonly string[], path: readonly string[]): boolean =>
  matches([...pattern, '**'], path, (part) => part === '**', matchesName);

/** Returns the folders above a path, the nearest first. The root is `.`. */
function listFolders(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? ['.'] : [folder, ...listFolders(folder)];
}

export interface AccessRules {
  /** What is wrong with files that are broken, and where. */
  readonly faults: readonly string[];
  find(path: string): readonly AccessEntry[];
  /** Returns a text that changes with the access list of the document. */
  getFingerprint(path: string): string;
}

export function createAccessRules(files: readonly AccessFile[]): AccessRules {
  const faults: string[] = [];
  /** By folder; undefined for a broken file. */
  const byFolder = new Map<string, readonly Rule[] | undefined>();
  for (const { path, text } of files) {
    const folder = posix.dirname(path);
    try {
      byFolder.set(folder, parseRules(text));
    } catch (error) {
      byFolder.set(folder, undefined);
      faults.push(`${path}: ${(error as Error).message}`);
    }
  }

  function find(path: string): readonly AccessEntry[] {
    let isGoverned = false;
    for (const folder of listFolders(path)) {
      if (!byFolder.has(folder)) continue;
      isGoverned = true;
      const rules = byFolder.get(folder);
      if (!rules) return NOBODY;
      const segments = toSegments(posix.relative(folder, path));
      const matching = rules.filter((rule) => matchesPath(rule.segments, segments));
      // Of two that are equally specific, the later one.
      const [first, ...others] = matching.toReversed();
      if (first)
        return others.reduce((best, rule) => (rule.weight > best.weight ? rule : best), first).access;
    }
    return isGoverned ? NOBODY : EVERYONE;
  }

  return {
    faults,
    find,
    getFingerprint: (path) =>
      createHash('sha256')
        .update(JSON.stringify(find(path)))
        .digest('base64url')
        .slice(0, 16),
  };
}

export const isForEveryone = (access: readonly AccessEntry[]): boolean =>
  access.some(({ kind }) => kind === 'everyone');
