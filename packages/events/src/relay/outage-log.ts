/** After so long, an outage that lasts is logged again. */
const REMINDER_MS = 15 * 60_000;
/** The number of different reasons of one outage that are remembered: messages of foreign programs may vary without end. */
const MAX_REASONS = 50;

/** Returns the innermost message, which says what the outer ones only wrap. */
export function findReason(error: unknown): string {
  let reason = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) reason = cause.message;
  return reason;
}

/** Decides which attempts of an outage are logged: each reason once, and again every 15 minutes while it lasts. */
export function createOutageLog(reminderMs = REMINDER_MS) {
  /** When each reason was last logged, by what is affected. */
  const outages = new Map<string, Map<string, number>>();
  return {
    /**
     * @param scope - what is affected, such as a partition.
     * @param error - what has failed, or its reason.
     */
    isWorthLogging(scope: string, error: unknown): boolean {
      const reasons = outages.get(scope) ?? new Map<string, number>();
      outages.set(scope, reasons);
      const reason = findReason(error);
      const now = performance.now();
      const loggedAt = reasons.get(reason);
      if (loggedAt === undefined ? reasons.size >= MAX_REASONS : now - loggedAt < reminderMs) return false;
      reasons.set(reason, now);
      return true;
    },
    /** Call this when the outage is over: the next one is logged again. */
    end: (scope: string): void => void outages.delete(scope),
  };
}

export type OutageLog = ReturnType<typeof createOutageLog>;
