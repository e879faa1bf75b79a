/**
 * The statements of requests that arrive at the same moment are sent as one. More than two at once would only wait for
 * each other: the tokens of one application lock the same row.
 */
export const ISSUANCE_BATCH = { maxBatch: 200, maxInFlight: 2 } as const;
