import type { FaultDetail } from '@platform/service-kit';

/** Neither PostgreSQL's text nor UTF-8 on the wire has them. */
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Finds the first text with NUL or an unpaired surrogate; only an escape can bring such text in. */
export function findUnstorableText(root: unknown): FaultDetail | undefined {
  const pending: [value: unknown, field: string][] = [[root, '']];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const [value, field] = entry;
    if (typeof value === 'string' && !isStorable(value))
      return { field: field || 'body', message: 'must not hold NUL or unpaired surrogates' };
    if (value === null || typeof value !== 'object') continue;
    for (const [key, child] of Object.entries(value)) {
      if (!isStorable(key))
        return { field: field || 'body', message: 'has a key with NUL or unpaired surrogates' };
      pending.push([child, field === '' ? key : `${field}.${key}`]);
    }
  }
  return undefined;
}
