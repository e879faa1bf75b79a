import { connectorNames } from '#text/connectors';

const DEFAULT_INSTANCE = 'default';

/** Which connector, and which of its instances. */
export interface Instance {
  readonly connector: string;
  readonly instance: string;
}

/** Names an instance of a connector in addresses: by the connector, and by the instance where it is another than the first. */
export const toConnectorKey = ({ connector, instance }: Instance): string =>
  instance === DEFAULT_INSTANCE ? connector : `${connector}:${instance}`;

/** Returns the path parameters of the API for a key. */
export function readConnectorKey(key: string): Instance {
  const [connector = '', instance = DEFAULT_INSTANCE] = key.split(':');
  return { connector, instance };
}

/** Returns what an instance of a connector is called, by its key; the identifiers if the catalogue lacks it. */
export function getConnectorName(key: string, displayName?: string | null): string {
  const { connector, instance } = readConnectorKey(key);
  const name = connectorNames[connector] ?? connector;
  return displayName ?? (instance === DEFAULT_INSTANCE ? name : `${name} (${instance})`);
}
