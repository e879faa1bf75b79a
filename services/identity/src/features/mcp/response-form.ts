import { AppError } from '@platform/service-kit';

/** How a client takes an answer: as JSON, as an event stream, or as whichever suits the message. */
export type ResponseForm = 'json' | 'stream' | 'either';

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
/** What the transport's specification asks clients to send, and nearly all do. */
const USUAL = `${JSON_TYPE}, ${STREAM_TYPE}`;

/** Weights by media range; whatever is no range is skipped, and a weight that can't be read is 1. */
function readRanges(accept: string): ReadonlyMap<string, number> {
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
 * Reads the `Accept` header (RFC 9110 §12.5.1). None at all, and wildcards, mean JSON: who names no event stream would not
 * know how to read one. `q=0` refuses a type.
 *
 * @throws AppError 406 when it takes neither type.
 */
export function negotiateResponseForm(accept: string | undefined): ResponseForm {
  if (accept === USUAL) return 'either';
  const ranges = readRanges(accept ?? '');
  if (ranges.size === 0) return 'json';
  const takes = (type: string): boolean => {
    const group = `${type.split('/', 1)[0]}/*`;
    return (ranges.get(type) ?? ranges.get(group) ?? ranges.get('*/*') ?? 0) > 0;
  };
  if (takes(JSON_TYPE)) return (ranges.get(STREAM_TYPE) ?? 0) > 0 ? 'either' : 'json';
  if (takes(STREAM_TYPE)) return 'stream';
  const message = `Not acceptable: answers are ${JSON_TYPE} or ${STREAM_TYPE}`;
  throw new AppError({ status: 406, code: 'NOT_ACCEPTABLE', message });
}
