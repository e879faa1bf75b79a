/*
 * Pure rules for alerts that are sent as one mail. An alert that can be merged has, beside its own headline and message:
 * `item`, a line about it; `manyHeadline`, the headline of several with `#` for their number; and `advice`.
 */

type Detail = Readonly<Record<string, string>>;

/** The limits of the mail service, in characters. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_FACT_LENGTH = 64;

/** Returns the values when they fit into a line; which one of them holds for which alert is not said. */
function joinFacts(details: readonly Detail[], name: string): Detail {
  const values = [...new Set(details.map((detail) => detail[name] ?? '').filter((value) => value !== ''))];
  if (values.length === 0) return {};
  const joined = values.join(', ');
  return { [name]: values.length === 1 || joined.length <= MAX_FACT_LENGTH ? joined : 'several' };
}

/** Returns as many items as there is room for, and how many there are beyond. */
function listItems(items: readonly string[], room: number): string {
  let listed = '';
  for (const [index, item] of items.entries()) {
    const more = `and ${items.length - index} more`;
    const next = index === 0 ? item : `${listed}; ${item}`;
    if (next.length + more.length + 2 > room) return index === 0 ? more : `${listed}; ${more}`;
    listed = next;
  }
  return listed;
}

/** Merges the details of alerts of one kind, the oldest first, into the detail of one mail. */
export function mergeAlerts(details: readonly Detail[]): Detail {
  const [first] = details;
  const newest = details.at(-1);
  if (details.length < 2 || !first || !newest) return first ?? {};
  const { manyHeadline = '', advice = '' } = first;
  const items = details.map(({ item = '' }) => item).filter((item) => item !== '');
  return {
    headline: manyHeadline.replace('#', String(details.length)),
    message: `${listItems(items, MAX_MESSAGE_LENGTH - advice.length - 2)}. ${advice}`,
    ...(first['page'] !== undefined && { page: first['page'] }),
    ...(newest['time'] !== undefined && { time: newest['time'] }),
    ...joinFacts(details, 'device'),
    ...joinFacts(details, 'ipAddress'),
  };
}
