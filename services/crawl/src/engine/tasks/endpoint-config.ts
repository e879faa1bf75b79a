import { isConnector } from '@platform/events';
import { list, parseUrl, type Variable, parseWebhookSecret } from '@platform/service-kit';

/** `*` stands for every connector without an entry. */
export const ANY_CONNECTOR = '*';

/** The URL to which the crawls of each connector are posted; a connector without an entry uses the built-in task. */
export type TaskEndpoints = ReadonlyMap<string, string>;
/** The keys that sign the requests to each endpoint: two while one is being replaced. */
export type TaskSecrets = ReadonlyMap<string, readonly Buffer[]>;

type Entry = readonly [connector: string, value: string];

/** @returns undefined unless every item is `<connector or *>=<value>`. */
function parseEntries(text: string, isValue: (value: string) => boolean): Entry[] | undefined {
  const entries = (list('').parse(text) ?? []).map((item): Entry => {
    const end = item.indexOf('=');
    return [item.slice(0, Math.max(0, end)), item.slice(end + 1)];
  });
  const isValid = entries.every(
    ([connector, value]) => (connector === ANY_CONNECTOR || isConnector(connector)) && isValue(value),
  );
  return isValid ? entries : undefined;
}

export const taskEndpoints: Variable<TaskEndpoints> = {
  mustBe: 'a comma-separated list of <connector>=<http(s) URL>, each connector once, * for every other',
  parse(text) {
    const entries = parseEntries(
      text,
      (value) => /^https?:\/\/\S+$/.test(value) && parseUrl(value) !== undefined,
    );
    const endpoints = new Map(entries);
    return entries && endpoints.size === entries.length ? endpoints : undefined;
  },
};

export const taskSecrets: Variable<TaskSecrets> = {
  mustBe:
    'a comma-separated list of <connector>=whsec_<24 to 64 bytes in Base64>, for each endpoint of TASKS; a second one of the same endpoint while it is replaced',
  parse(text) {
    const entries = parseEntries(text, (value) => parseWebhookSecret(value) !== undefined);
    if (!entries) return undefined;
    const secrets = new Map<string, Buffer[]>();
    for (const [connector, value] of entries) {
      const key = parseWebhookSecret(value);
      if (key) secrets.set(connector, [...(secrets.get(connector) ?? []), key]);
    }
    return secrets;
  },
};

/**
 * Returns an error for each endpoint without a secret, which would be called unsigned, and for each secret without an
 * endpoint.
 */
export function findTaskContradictions(values: {
  readonly TASKS?: TaskEndpoints;
  readonly TASK_SECRETS?: TaskSecrets;
}): string[] {
  const { TASKS: endpoints, TASK_SECRETS: secrets } = values;
  if (!endpoints || !secrets) return [];
  const without = [...endpoints.keys()].filter((connector) => !secrets.has(connector));
  const unused = [...secrets.keys()].filter((connector) => !endpoints.has(connector));
  return [
    ...without.map((connector) => `TASK_SECRETS has no entry for ${connector}, which TASKS names`),
    ...unused.map((connector) => `TASK_SECRETS has an entry for ${connector}, which TASKS does not name`),
  ];
}
