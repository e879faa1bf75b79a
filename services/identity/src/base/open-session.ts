/**
 * Returns the SQL for whether a session has not been ended. Those of a whole organisation end together, however many they
 * are, when its generation advances: sessions that its provider opened, and sessions without a second factor.
 *
 * @param session - the alias of `sessions`; `organisation` that of its row in `organisations`.
 */
export const isSessionOpen = (session: string, organisation: string): string => `
  ${session}.ended_at is null
  and coalesce(${session}.provider_generation = ${organisation}.provider_generation, true)
  and coalesce(${session}.single_factor_generation = ${organisation}.single_factor_generation, true)`;
