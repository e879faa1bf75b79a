import { createHash } from 'node:crypto';
import { parse as parseExact } from 'lossless-json';
import { Liquid, type Template } from 'liquidjs';
import {
  type AccessEntry,
  type Deletion,
  type Document,
  MAX_ID_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  MAX_TITLE_CHARACTERS,
} from '../documents/contract.js';
import { htmlToMarkdown } from '../documents/html.js';
import { adfToMarkdown } from './adf.js';

/** How the records of a stream become documents. */
export interface StreamMapping {
  /** One field or several, which together identify a record of the stream. `a.b` is a field of an object. */
  readonly id: string | readonly string[];
  /** Templates over the fields. */
  readonly title: string;
  readonly text: string;
  readonly url?: string;
  /** `text/markdown` if the text has headings. */
  readonly mimeType?: string;
  /** The field with the time of the last change. */
  readonly updatedAt?: string;
  /** A field or an expression that is true of records that are deleted in the source. */
  readonly deletedWhen?: string;
  /** Of records that are no documents. */
  readonly skipWhen?: string;
  readonly access?: readonly AccessEntry[];
  /** The field of the stream's records of permissions that has what `id` names in those of its content. */
  readonly permissionsId?: string;
}

/** The record cannot become a document. The message has no content of the record. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  constructor(
    message: string,
    /** The document that the record would be; undefined if even that is unknown. */
    readonly id: string | undefined,
  ) {
    super(message);
  }
}

export const liquid = new Liquid({
  ownPropertyOnly: true,
  cache: false,
  root: [],
  partials: [],
  layouts: [],
});
liquid.registerFilter('html', (value: unknown) => htmlToMarkdown(typeof value === 'string' ? value : ''));
liquid.registerFilter('adf', adfToMarkdown);

export type Fields = Readonly<Record<string, unknown>>;

export const readPath = (data: Fields, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Fields)[name]
          : undefined,
      data,
    );

/** Cuts text, but not within a surrogate pair. */
const cut = (text: string, length: number): string =>
  text.length <= length
    ? text
    : text.slice(0, /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? length - 1 : length);

/** Returns the id of the document of a record. Only a slash would make two ids of several fields the same. */
export function toDocumentId(stream: string, parts: readonly unknown[]): string {
  const [only, ...more] = parts;
  const key =
    more.length === 0
      ? String(only)
      : parts.map((part) => String(part).replaceAll('%', '%25').replaceAll('/', '%2F')).join('/');
  return toBoundedId(`${stream}/${key}`);
}

/** A long id is shortened, and stays unique. */
function toBoundedId(id: string): string {
  if (id.length <= MAX_ID_CHARACTERS) return id;
  const digest = createHash('sha256').update(id).digest('hex');
  return `${cut(id, MAX_ID_CHARACTERS - digest.length - 1)}~${digest}`;
}

/** @returns an instant of the contract; undefined for what is none. Numbers are seconds or milliseconds since the epoch. */
function toInstant(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value));
  const number = Number(value);
  const date = isNumber ? new Date(number < 1e11 ? number * 1_000 : number) : new Date(value as string);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * Compiles the mapping of a stream.
 *
 * @throws Error with the fault of a template.
 */
export function compileMapping(stream: string, mapping: StreamMapping) {
  const paths = typeof mapping.id === 'string' ? [mapping.id] : mapping.id;
  const compile = (name: string, template: string | undefined): Template[] | undefined => {
    try {
      return template === undefined ? undefined : liquid.parse(template);
    } catch (error) {
      throw new Error(`${name} of the stream ${stream}: ${(error as Error).message}`, { cause: error });
    }
  };
  const title = compile('title', mapping.title);
  const text = compile('text', mapping.text);
  const url = compile('url', mapping.url);
  const { deletedWhen, skipWhen } = mapping;
  const isTrue = (expression: string | undefined, data: Fields): boolean => {
    if (expression === undefined) return false;
    const value: unknown = liquid.evalValueSync(expression, { ...data });
    return value !== false && value !== null && value !== undefined;
  };

  /** @param line - of the record, in which numbers are exact. */
  function toId(data: Fields, line: string): string {
    let exact: Fields | undefined;
    const parts = paths.map((path) => {
      let value = readPath(data, path);
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
        exact ??= (parseExact(line) as { record: { data: Fields } }).record.data;
        value = String(readPath(exact, path));
      }
      const isKey = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      if (!isKey || value === '') throw new MappingError(`the field ${path} of the id is missing`, undefined);
      return value;
    });
    return toDocumentId(stream, parts);
  }

  const render = (template: Template[] | undefined, data: Fields): string =>
    template === undefined ? '' : String(liquid.renderSync(template, data));

  return {
    /**
     * @returns the document, or that it is deleted; undefined if the record is none. @throws MappingError.
     */
    map(data: Fields, line: string): Content | MappedDeletion | undefined {
      const id = toId(data, line);
      try {
        if (isTrue(skipWhen, data)) return undefined;
        if (isTrue(deletedWhen, data)) return { id, deleted: true };
        const renderedUrl = render(url, data).trim();
        const updatedAt = toInstant(
          mapping.updatedAt === undefined ? undefined : readPath(data, mapping.updatedAt),
        );
        const whole = render(text, data).trim();
        const name = render(title, data).replaceAll(/\s+/g, ' ').trim();
        if (name === '' && whole === '') return undefined;
        return {
          id,
          title: cut(name, MAX_TITLE_CHARACTERS),
          text: cut(whole, MAX_TEXT_CHARACTERS),
          isCut: whole.length > MAX_TEXT_CHARACTERS,
          mimeType: mapping.mimeType ?? 'text/plain',
          ...(renderedUrl !== '' && renderedUrl.length <= 2_000 && { url: renderedUrl }),
          ...(updatedAt !== undefined && { updatedAt }),
        };
      } catch (error) {
        throw new MappingError((error as Error).message.split('\n')[0] ?? '', id);
      }
    },
  };
}

export type Content = Pick<Document, 'id' | 'title' | 'text' | 'mimeType' | 'url' | 'updatedAt'> & {
  /** Whether the text was too long for the contract. */
  readonly isCut: boolean;
};
export type MappedDeletion = Pick<Deletion, 'id' | 'deleted'>;
