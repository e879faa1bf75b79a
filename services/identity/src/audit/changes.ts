import type { Changes } from './record.sql.js';

type Value = string | number | null;

/**
 * Returns the fields that differ, in the form that the audit stores.
 *
 * @param before - undefined when the subject was created.
 * @param after - undefined when the subject was deleted.
 */
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
