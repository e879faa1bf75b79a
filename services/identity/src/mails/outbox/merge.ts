import { type NoticeItem, toItemList } from './notice-emails.js';

/* Pure rules for alerts that are sent as one mail. Each becomes an item of the mail, with its facts. */

type Detail = Readonly<Record<string, string>>;

/** The limit of the mail service for an address, in characters. */
const MAX_FACT_LENGTH = 64;

/** Returns the values as far as they fit into a line; which one of them holds for which alert is not said. */
function joinFacts(details: readonly Detail[], name: string): Detail {
  const [first, ...others] = new Set(details.map((detail) => detail[name] ?? '').filter(Boolean));
  if (first === undefined) return {};
  const joined = [first, ...others].join(', ');
  return { [name]: others.length === 0 || joined.length <= MAX_FACT_LENGTH ? joined : `${first}, …` };
}

const toItem = (detail: Detail): NoticeItem => {
  const { name = '', state = '', account = '', expiresAt = '', time = '', days = '' } = detail;
  return { name, state, account, expiresAt, time, days };
};

/** Merges the details of alerts of one kind, the oldest first, into the detail of one mail. */
export function mergeAlerts(details: readonly Detail[]): Detail {
  const [first = {}] = details;
  const newest = details.at(-1);
  if (details.length < 2 || !newest) return first;
  return {
    ...first,
    ...(newest['time'] !== undefined && { time: newest['time'] }),
    ...joinFacts(details, 'device'),
    ...joinFacts(details, 'ipAddress'),
    ...toItemList(details.map(toItem)),
  };
}
