import { v7 as uuidv7 } from 'uuid';

/** Returns the smallest UUIDv7 of a time. @param msecs - milliseconds since the epoch. */
export const firstIdAt = (msecs: number): string => uuidv7({ msecs, seq: 0, random: new Uint8Array(16) });
