import { getConnectorName } from '../../ui/connector-name.ts';
import type { AuditName } from './api.ts';

/** Names what an id means; its last part where that has no name any more. */
export function nameOf(id: string, names: Readonly<Record<string, AuditName>>): string {
  const found = names[id];
  if (!found) return `…${id.slice(-6)}`;
  // Of a connector, the identifier stands there, and the instance after it.
  return found.kind === 'crawl' ? found.name.replace(/^\S+/, (key) => getConnectorName(key)) : found.name;
}
