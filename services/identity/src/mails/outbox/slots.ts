/** Counts the slots for concurrent mails, in total and by organisation. The caller checks `free` before it acquires. */
export function createSlots(total: number) {
  const held = new Map<string, number>();
  let taken = 0;
  return {
    get free() {
      return total - taken;
    },
    /** The number of acquired slots by organisation. */
    held: held as ReadonlyMap<string, number>,
    acquire(orgId: string): void {
      held.set(orgId, (held.get(orgId) ?? 0) + 1);
      taken += 1;
    },
    release(orgId: string): void {
      const left = (held.get(orgId) ?? 1) - 1;
      if (left > 0) held.set(orgId, left);
      else held.delete(orgId);
      taken -= 1;
    },
  };
}
