/** Calls that may be under way together. */
export interface Places {
  /** @returns false when there is none left for this holder, or for anybody. */
  take(holder: string): boolean;
  /** To be called once for each that was taken. */
  give(holder: string): void;
}

/** @param all of everybody. @param each of one holder. */
export function createPlaces({ all, each }: { readonly all: number; readonly each: number }): Places {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take(holder) {
      const own = taken.get(holder) ?? 0;
      if (total >= all || own >= each) return false;
      taken.set(holder, own + 1);
      total += 1;
      return true;
    },
    give(holder) {
      const left = (taken.get(holder) ?? 0) - 1;
      if (left > 0) taken.set(holder, left);
      else taken.delete(holder);
      total -= 1;
    },
  };
}
