import { isUtf8 } from 'node:buffer';
import { errorCodes, type FastifyInstance } from 'fastify';
import { type FaultDetail, validationError } from '../../errors.js';
import { findExcess } from './json-limits.js';
import { keepBodyText } from './json-text.js';

/**
 * Finds the first string that PostgreSQL's text and jsonb cannot store: one with NUL or an unpaired surrogate. Only
 * an escape can contain one.
 */
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

/** The parser rejects these keys at any depth: merging such an object would change the properties of all objects. */
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
 * Registers the parser of JSON bodies: Fastify's, for a body that is UTF-8 (RFC 8259 §8.1) and within limits. Prototype keys
 * and text that the database would refuse are a 400 rather than a 500. An empty body counts as none, as clients often set
 * the content type anyway.
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
    const excess = findExcess(bytes);
    if (excess) {
      done(validationError([excess]));
      return;
    }
    const text = bytes.toString();
    void parse(request, text, (error, value) => {
      if (error !== null && isJson(text)) {
        done(validationError([{ field: 'body', message: PROTOTYPE_KEY }]), undefined);
        return;
      }
      const fault = error === null ? findValueFault(text, value) : undefined;
      keepBodyText(request, text);
      done(fault ? validationError([fault]) : error, value);
    });
  });
}

/** Finds the fault of a parsed body that no route accepts. */
export function findValueFault(text: string, value: unknown): FaultDetail | undefined {
  // A route with an optional body would take `null` for a missing one.
  if (value === null) return { field: 'body', message: 'must not be null' };
  // Only an escape can contain an unpaired surrogate, and a raw NUL byte is not valid JSON.
  return text.includes('\\u') ? findUnstorableText(value) : undefined;
}
