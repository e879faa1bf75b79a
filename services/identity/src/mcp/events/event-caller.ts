import { type AccountPrincipal, canUseConnector, hasScope } from '@platform/auth';
import type { CallerCatalogue } from '../endpoint/catalogue.js';

/** Whoever follows events, and what decides what it sees of them: the tools that it can call now. */
export interface EventCaller {
  readonly principal: AccountPrincipal;
  /** The connectors of the mounted servers of which it can call a tool that reads. */
  readonly connectors: ReadonlySet<string>;
  /** Whether it may see what happens in the whole organisation. A credential with bounds may not, whatever they are. */
  readonly canReadAudit: boolean;
  canCall(this: void, tool: string): boolean;
  /** Whether it can see the crawls of the connector. */
  canCrawl(this: void, connector: string): boolean;
  /** Whether it can find documents of the connector, or see its crawls. */
  canReadDocuments(this: void, connector: string): boolean;
}

export function toEventCaller(
  principal: AccountPrincipal,
  catalogue: Pick<CallerCatalogue, 'getView'>,
): EventCaller {
  const { names, entries } = catalogue.getView(undefined);
  const canUse = (connector: string): boolean => canUseConnector(principal, connector);
  const connectors = new Set(
    entries
      .filter(({ tool }) => tool.annotations.readOnlyHint)
      .flatMap((entry) => entry.connectors ?? [])
      .filter(canUse),
  );
  const canCall = (tool: string): boolean => names.has(tool);
  const canCrawl = (connector: string): boolean => canCall('get_crawl') && canUse(connector);
  return {
    principal,
    connectors,
    canReadAudit:
      principal.role === 'admin' && principal.bounds === undefined && hasScope(principal, 'events:read'),
    canCall,
    canCrawl,
    canReadDocuments: (connector) => connectors.has(connector) || canCrawl(connector),
  };
}
