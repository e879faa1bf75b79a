/** The newest version of an organisation's tools that this process has seen. */
export interface SeenVersion {
  readonly version: number;
  /** An older version was read after this one: a check that arrived late, or a database that was restored. */
  readonly isDoubted: boolean;
}

/**
 * The liveness check of every request reads the version, so that a change takes effect with the next request at every
 * replica, without a further round trip or a connection that listens for changes.
 */
export function createCatalogueVersions() {
  const versions = new Map<string, SeenVersion>();
  return {
    /** @param version - null for an organisation that has never had a server. */
    record(orgId: string, version: number | null): void {
      if (version === null) return;
      const seen = versions.get(orgId);
      if (!seen || version > seen.version) versions.set(orgId, { version, isDoubted: false });
      else if (version < seen.version) versions.set(orgId, { version: seen.version, isDoubted: true });
    },
    get: (orgId: string): SeenVersion | undefined => versions.get(orgId),

    /** Records what a load has read, older or newer, unless something else was seen since the load began. */
    settle(orgId: string, seen: SeenVersion | undefined, version: number): void {
      if (versions.get(orgId) === seen) versions.set(orgId, { version, isDoubted: false });
    },
  };
}

/** The newest version of each organisation's tools that this process has seen. */
export type CatalogueVersions = ReturnType<typeof createCatalogueVersions>;
