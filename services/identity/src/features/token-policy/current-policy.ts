import { type AppError, conflict } from '@platform/service-kit';
import type { CurrentPolicy } from './queries.js';

/** Nobody saves the policy so often in a row that a token could not be created. */
const MAX_ATTEMPTS = 3;

/** A token must fit the policy that is saved while it is created. */
export const policyChanged = (): AppError =>
  conflict('POLICY_CHANGED', "The organisation's policy for tokens was saved in the meantime: try again");

/**
 * Runs `attempt` with the policy, and again when the policy was saved in the meantime.
 *
 * @param attempt - throws `policyChanged` when the policy is not the same any more.
 */
export async function withCurrentPolicy<T>(
  getPolicy: () => Promise<CurrentPolicy>,
  attempt: (policy: CurrentPolicy) => Promise<T>,
): Promise<T> {
  for (let attempts = 1; ; attempts += 1)
    try {
      return await attempt(await getPolicy());
    } catch (error) {
      const isChanged = (error as Partial<AppError>).code === 'POLICY_CHANGED';
      if (!isChanged || attempts === MAX_ATTEMPTS) throw error;
    }
}
