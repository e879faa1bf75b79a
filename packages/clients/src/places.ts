/** Calls that may be under way together. */
export interface Places {
  /** @returns false when there is none left for this organisation, or for anybody. */
  take(orgId: string): boolean;
  /** To be called once for each that was taken. */
  give(orgId: string): void;
}

/** @param all of everybody. @param each of one organisation. */
export function createPlaces({ all, each }: { readonly all: number; readonly each: number }): Places {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take(orgId) {
      const own = taken.get(orgId) ?? 0;
      if (total >= all || own >= each) return false;
      taken.set(orgId, own + 1);
      total += 1;
      return true;
    },
    give(orgId) {
      const left = (taken.get(orgId) ?? 0) - 1;
      if (left > 0) taken.set(orgId, left);
      else taken.delete(orgId);
      total -= 1;
    },
  };
}
