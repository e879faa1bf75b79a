import { v7 as uuidv7 } from 'uuid';

/** Returns the smallest UUIDv7 of a time. @param msecs - milliseconds since the epoch; earlier times count as 0. */
export const firstIdAt = (msecs: number): string =>
  uuidv7({ msecs: Math.max(0, msecs), seq: 0, random: new Uint8Array(16) });

/** Returns a new UUIDv7 of the time in milliseconds since the epoch. */
export const createIdAt = (msecs: number): string => uuidv7({ msecs });
