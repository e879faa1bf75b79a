import { v7 as uuidv7 } from 'uuid';

/** @returns the smallest UUIDv7 with this timestamp. */
export const firstIdAt = (msecs: number): string =>
  uuidv7({ msecs: Math.max(0, msecs), seq: 0, random: new Uint8Array(16) });
