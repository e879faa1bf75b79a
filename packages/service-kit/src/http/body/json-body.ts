import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyInstance } from 'fastify';
import { type FaultDetail, validationError } from '../../errors.js';
import { findInexactNumber } from './exact-numbers.js';
import { findRepeatedName, type JsonShape, readJsonShape } from './json-limits.js';

/** Finds the first string that PostgreSQL's text and jsonb can't hold: NUL or an unpaired surrogate; only an escape can bring one in. */
function findUnstorableText(root: unknown): FaultDetail | undefined {
  const pending: [value: unknown, field: string][] = [[root, '']];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const [value, field] = entry;
    if (typeof value === 'string') {
      if (!isStorable(value))
        return { field: field || 'body', message: 'must not hold NUL or unpaired surrogates' };
    } else if (value !== null && typeof value === 'object') {
      for (const [key, child] of Object.entries(value)) {
        if (!isStorable(key))
          return { field: field || 'body', message: 'has a key with NUL or unpaired surrogates' };
        pending.push([child, field === '' ? key : `${field}.${key}`]);
      }
    }
  }
  return undefined;
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** The parser refuses these, wherever they are: who merges such an object changes what all objects have. */
const PROTOTYPE_KEY = 'must not have the key "__proto__", nor "constructor" with "prototype" in it';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * JSON bodies: what is no UTF-8 is no JSON (RFC 8259 §8.1), prototype keys and names that an object has twice are refused, an
 * empty body is no body (clients often set the content type anyway), text that the database can't hold is a 400 rather than a
 * 500, and so is a number that would be stored as another one. How many values there may be is decided before the parser sees
 * them.
 */
export function registerJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    if (!isUtf8(bytes)) {
      done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY());
      return;
    }
    const shape = readJsonShape(bytes);
    if (shape.fault) {
      done(validationError([shape.fault]));
      return;
    }
    const text = bytes.toString();
    void parse(request, text, (error, value) => {
      if (error !== null && isJson(text)) {
        done(validationError([{ field: 'body', message: PROTOTYPE_KEY }]), undefined);
        return;
      }
      const fault =
        error === null ? (findValueFault(shape, text, value) ?? findInexactNumber(text)) : undefined;
      done(fault ? validationError([fault]) : error, value);
    });
  });
}

/** What the parser lets through and no route takes. */
export function findValueFault(shape: JsonShape, text: string, value: unknown): FaultDetail | undefined {
  // A route whose body may be left out would take it for none.
  if (value === null) return { field: 'body', message: 'must not be null' };
  // Only an escape can bring unpaired surrogates in; NUL as a byte is no JSON.
  const unstorable = text.includes('\\u') ? findUnstorableText(value) : undefined;
  return unstorable ?? findRepeatedName(shape.memberCount, value);
}
