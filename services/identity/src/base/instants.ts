import { validationError } from '@platform/service-kit';

/** Reads an instant of a query. @throws AppError 400 for one that no id of the time can hold. */
export function readInstant(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(text);
  // A UUIDv7 holds 48 bits of milliseconds since 1970.
  if (at.getTime() >= 0 && at.getTime() < 2 ** 48) return at;
  throw validationError([{ field, message: 'must be an instant since 1970, such as 2026-01-31T00:00:00Z' }]);
}
