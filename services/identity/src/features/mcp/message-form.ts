import type { FaultDetail } from '@platform/service-kit';

/** Nested deeper, it would be somebody's stack that gives way. */
const DEPTH_MAX = 64;

/** Members of all objects in a JSON text: each has one colon outside of strings. */
function countMembersIn(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 58 /* : */) count += 1;
    else if (code === 34 /* " */)
      // To the closing quote; what follows a backslash doesn't close.
      for (index += 1; index < text.length && text.charCodeAt(index) !== 34; index += 1)
        if (text.charCodeAt(index) === 92 /* \ */) index += 1;
  }
  return count;
}

/**
 * What JSON.parse lets through and the endpoint doesn't: a key that an object has twice, of which
 * two readers may believe different ones, and nesting without end.
 *
 * @param text valid JSON
 * @param value what it was parsed to
 */
export function findFormFault(text: string, value: unknown): FaultDetail | undefined {
  let members = 0;
  const pending: [value: unknown, depth: number][] = [[value, 1]];
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const [node, depth] = entry;
    if (node === null || typeof node !== 'object') continue;
    if (depth > DEPTH_MAX)
      return { field: 'message', message: `must not nest deeper than ${DEPTH_MAX} levels` };
    const children: unknown[] = Object.values(node);
    if (!Array.isArray(node)) members += children.length;
    for (const child of children) pending.push([child, depth + 1]);
  }
  return members === countMembersIn(text) ? undefined : { field: 'message', message: 'has a key twice' };
}
