import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

/*
 * What a worker hands to a search: lines of JSON (NDJSON), each about one document of an instance, or about the end of a
 * full crawl. docs/connect/documents.md explains it; documents.schema.json is this file as JSON schema.
 */

export const MAX_ID_CHARACTERS = 500;
export const MAX_TITLE_CHARACTERS = 500;
export const MAX_TEXT_CHARACTERS = 2_000_000;
const MAX_ACCESS_ENTRIES = 1_000;
/** What an ingest endpoint accepts at once. */
export const MAX_BATCH_LINES = 1_000;
export const MAX_BATCH_BYTES = 16 * 1_048_576;

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Instant = Type.String({ format: 'date-time', maxLength: 40 });

export const AccessEntry = Type.Union(
  [
    Type.Object({ kind: Type.Literal('everyone') }),
    Type.Object({ kind: Type.Union([Type.Literal('group'), Type.Literal('user')]), id: Name }),
  ],
  {
    description: 'Everyone of the organisation, a group by its name or id, or a user by the e-mail address.',
  },
);
export type AccessEntry = Type.Static<typeof AccessEntry>;

const origin = {
  connector: Name,
  instance: Name,
  runId: Type.Optional(
    Type.String({ maxLength: 100, description: 'The run that has brought the line, to link to.' }),
  ),
};
const id = Type.String({
  minLength: 1,
  maxLength: MAX_ID_CHARACTERS,
  description: 'Unique in the instance, and the same for the same document in every crawl.',
});
const fullCrawl = {
  ...Instant,
  description:
    'Names the full crawl that has seen the document: `fullStartedAt` of the order. A later one is greater.',
};

const access = Type.Array(AccessEntry, {
  maxItems: MAX_ACCESS_ENTRIES,
  description: 'Who may find it. An empty list: nobody.',
});

/** A document as it is now. It replaces the one with the same id. */
export const Document = Type.Object(
  {
    ...origin,
    id,
    title: Type.String({ maxLength: MAX_TITLE_CHARACTERS }),
    text: Type.String({ maxLength: MAX_TEXT_CHARACTERS }),
    mimeType: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Of `text`: `text/markdown` has headings; without it, `text/plain`.',
      }),
    ),
    url: Type.Optional(Type.String({ maxLength: 2_000, description: 'Where people read it.' })),
    updatedAt: Type.Optional(Instant),
    access: Type.Union([access, Type.Literal('separate')], {
      description:
        'Who may find it. An empty list: nobody. `separate`: lines about access say so; until there is one, a known document keeps its list, and a new one is for nobody.',
    }),
    fullCrawl: Type.Optional(fullCrawl),
  },
  { title: 'Document' },
);
export type Document = Type.Static<typeof Document>;

/** Who may find a document, which has not changed otherwise. An unknown id is no error. */
export const AccessChange = Type.Object(
  { ...origin, id, accessOnly: Type.Literal(true), access },
  { title: 'AccessChange' },
);
export type AccessChange = Type.Static<typeof AccessChange>;

/** The document is gone. An unknown id is no error. */
export const Deletion = Type.Object({ ...origin, id, deleted: Type.Literal(true) }, { title: 'Deletion' });
export type Deletion = Type.Static<typeof Deletion>;

/** A full crawl has seen the document, which has not changed or could not be read. An unknown id is no error. */
export const Sighting = Type.Object(
  { ...origin, id, seen: Type.Literal(true), fullCrawl },
  { title: 'Sighting' },
);
export type Sighting = Type.Static<typeof Sighting>;

/** A full crawl is complete: documents of the instance with an earlier `fullCrawl`, or without one, are gone. */
export const Completion = Type.Object(
  { ...origin, complete: Type.Literal(true), fullCrawl },
  { title: 'Completion' },
);
export type Completion = Type.Static<typeof Completion>;

export const DocumentLine = Type.Union([Deletion, Sighting, Completion, AccessChange, Document], {
  title: 'A line of a batch of documents',
});
export type DocumentLine = Deletion | Sighting | Completion | AccessChange | Document;

const kinds = [
  ['deleted', Compile(Deletion)],
  ['seen', Compile(Sighting)],
  ['complete', Compile(Completion)],
  ['accessOnly', Compile(AccessChange)],
] as const;
const document = Compile(Document);

/** @returns what is wrong with a line, such as `/title must be string`; undefined if it fits the contract. */
export function findFault(line: unknown): string | undefined {
  if (typeof line !== 'object' || line === null) return 'must be an object';
  const validator = kinds.find(([property]) => property in line)?.[1] ?? document;
  if (validator.Check(line)) return undefined;
  const [error] = validator.Errors(line);
  return `${error?.instancePath ?? ''} ${error?.message ?? 'does not fit the contract'}`.trim();
}

export const isDeletion = (line: DocumentLine): line is Deletion => 'deleted' in line;
export const isSighting = (line: DocumentLine): line is Sighting => 'seen' in line;
export const isAccessChange = (line: DocumentLine): line is AccessChange => 'accessOnly' in line;
export const isCompletion = (line: DocumentLine): line is Completion => 'complete' in line;
