/** The newest version of each organisation's tools that this process has seen. */
export interface CatalogueVersions {
  /** @param version - null for an organisation that has never had a server. */
  record(orgId: string, version: number | null): void;
  get(orgId: string): number | undefined;
}

/**
 * The liveness check of every request reads the version, so that a change takes effect with the next request at every
 * replica, without a further round trip or a connection that listens for changes.
 */
export function createCatalogueVersions(): CatalogueVersions {
  const versions = new Map<string, number>();
  return {
    record(orgId, version) {
      // The results of concurrent checks may arrive in another order.
      if (version !== null && version > (versions.get(orgId) ?? 0)) versions.set(orgId, version);
    },
    get: (orgId) => versions.get(orgId),
  };
}
