import { tooManyRequests } from '@platform/service-kit';

/** Bounds how many mails are under way, before anything is written down for one. */
export interface Turnstile {
  /** @returns what to call at the end. @throws AppError 429. */
  enter(orgId: string): () => void;
}

/** @param perOrgMax - so that one organisation's stuck server doesn't take all the places. */
export function createTurnstile(totalMax: number, perOrgMax: number): Turnstile {
  const byOrg = new Map<string, number>();
  let total = 0;
  return {
    enter(orgId) {
      const ofOrg = byOrg.get(orgId) ?? 0;
      if (total >= totalMax || ofOrg >= perOrgMax) throw tooManyRequests(1, 'Too many mails are under way');
      total += 1;
      byOrg.set(orgId, ofOrg + 1);
      return () => {
        total -= 1;
        const left = (byOrg.get(orgId) ?? 1) - 1;
        if (left > 0) byOrg.set(orgId, left);
        else byOrg.delete(orgId);
      };
    },
  };
}
