import { tooManyRequests } from '@platform/service-kit';

/** Bounds the memory that large bodies take together, before they are read. */
export interface ByteBudget {
  /** @returns what gives the bytes back; calling it again does nothing. @throws AppError 429. */
  take(bytes: number): () => void;
}

export function createByteBudget(bytesMax: number): ByteBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) throw tooManyRequests(1, 'Too many large mails at once');
      taken += bytes;
      let isTaken = true;
      return () => {
        if (isTaken) taken -= bytes;
        isTaken = false;
      };
    },
  };
}
