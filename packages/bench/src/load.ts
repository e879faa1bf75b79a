import autocannon from 'autocannon';

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const CONNECTIONS = 50;

/**
 * Closed-loop load over 50 keep-alive connections (autocannon: the generator that needs the least
 * of its core here, so that the bare route is not held back by it).
 *
 * @param bearers - taken in turn; none: no header.
 * @throws Error when an answer has another status than expected: a fast refusal is no result.
 */
export async function load(
  url: string,
  options: { readonly seconds: number; readonly bearers?: readonly string[]; readonly expected?: number },
): Promise<LoadResult> {
  const { seconds, bearers = [], expected = 200 } = options;
  const requests = bearers.map((bearer) => ({ headers: { authorization: `Bearer ${bearer}` } }));
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    // Each connection begins elsewhere in the list, or all would ask for the same token at once.
    ...(requests.length === 0 ? {} : { setupClient: rotateRequests(requests) }),
  });
  const statuses = Object.entries(result.statusCodeStats ?? {}).map(([status, { count }]) => ({
    status,
    count,
  }));
  const others = statuses.filter(({ status }) => Number(status) !== expected);
  if (others.length > 0 || result.errors > 0 || result.timeouts > 0)
    throw new Error(
      `${url} answered ${JSON.stringify(statuses)}, ${result.errors} errors, expected ${expected}`,
    );
  return { requestsPerSecond: result.requests.average, p99Ms: result.latency.p99 };
}

function rotateRequests(requests: readonly { headers: Record<string, string> }[]) {
  let clients = 0;
  return (client: { setRequests(requests: unknown): void }) => {
    const start = Math.floor((requests.length / CONNECTIONS) * clients++);
    client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
  };
}
