import { AppError } from '@platform/service-kit';

/** The form of response that a client accepts: JSON, an event stream, or whichever suits the message. */
export type ResponseForm = 'json' | 'stream' | 'either';

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
/** The value that the transport's specification requires and nearly all clients send. */
const USUAL = `${JSON_TYPE}, ${STREAM_TYPE}`;

/** Parses the weights of the media ranges. Malformed ranges are skipped; a malformed weight counts as 1. */
function parseRanges(accept: string): ReadonlyMap<string, number> {
  const ranges = accept
    .toLowerCase()
    .split(',')
    .map((part): [range: string, weight: number] => {
      const [range = '', ...parameters] = part.split(';').map((text) => text.trim());
      const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
      return [range, Number.isNaN(weight) ? 1 : weight];
    });
  return new Map(ranges.filter(([range]) => range !== ''));
}

/**
 * Negotiates the form of the response by the `Accept` header (RFC 9110 §12.5.1). A missing header or a wildcard means
 * JSON, because a client that doesn't name event streams probably can't read one. `q=0` rejects a type.
 *
 * @throws AppError 406 when the client accepts neither type.
 */
export function negotiateResponseForm(accept: string | undefined): ResponseForm {
  if (accept === USUAL) return 'either';
  const ranges = parseRanges(accept ?? '');
  if (ranges.size === 0) return 'json';
  const accepts = (type: string): boolean => {
    const group = `${type.split('/', 1)[0]}/*`;
    return (ranges.get(type) ?? ranges.get(group) ?? ranges.get('*/*') ?? 0) > 0;
  };
  if (accepts(JSON_TYPE)) return (ranges.get(STREAM_TYPE) ?? 0) > 0 ? 'either' : 'json';
  if (accepts(STREAM_TYPE)) return 'stream';
  const message = `Not acceptable: answers are ${JSON_TYPE} or ${STREAM_TYPE}`;
  throw new AppError({ status: 406, code: 'NOT_ACCEPTABLE', message });
}
