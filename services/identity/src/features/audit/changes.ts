import type { Changes } from './queries.js';

type Value = string | number | null;

/** What differs, as the audit tells it. @param before - undefined: there was nothing. */
export function findChanges<K extends string>(
  before: Readonly<Partial<Record<K, Value>>> | undefined,
  after: Readonly<Partial<Record<K, Value>>> | undefined,
  fields: readonly K[],
): Changes {
  const changes: Record<string, { from: Value; to: Value }> = {};
  for (const field of fields) {
    const [from, to] = [before?.[field] ?? null, after?.[field] ?? null];
    if (from !== to) changes[field] = { from, to };
  }
  return changes;
}
