import type { Route } from './operation.js';
import { ServiceFault } from './service-fault.js';

type Values = Readonly<Record<string, unknown>>;

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Matches segments that change the path when it is normalised: dot segments and empty ones. */
function toSegment(service: string, name: string, value: unknown): string {
  const text = toText(value);
  if (text !== '' && text !== '.' && text !== '..' && text.isWellFormed()) return encodeURIComponent(text);
  throw new ServiceFault({
    kind: 'refused',
    service,
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'Invalid request',
    details: [{ field: name, message: "can't be part of a path" }],
  });
}

/**
 * Builds the path and query of a call.
 *
 * @throws ServiceFault for a path parameter that cannot be a segment of a path.
 */
export function requestTarget(
  service: string,
  { path }: Route,
  parameters: Values = {},
  query: Values = {},
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    toSegment(service, name, parameters[name]),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.append(name, toText(value));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}
