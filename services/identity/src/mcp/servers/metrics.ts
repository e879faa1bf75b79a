import { Histogram, type Registry } from 'prom-client';

type Outcome = 'completed' | 'refused' | 'failed' | 'cancelled';

/** Registers the duration of calls by server. An organisation has at most 50 servers, so that labels stay few. */
export function registerServerMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'platform_mcp_server_call_duration_seconds',
    help: 'Duration of the calls of mounted tools, by server and outcome.',
    labelNames: ['org', 'server', 'outcome'],
    buckets: [0.05, 0.25, 1, 5, 30],
    registers: [registry],
  });
  return {
    /** Starts measuring a call. @returns a function that ends it. */
    start({
      orgId: org,
      id: server,
    }: {
      readonly orgId: string;
      readonly id: string;
    }): (outcome: Outcome) => void {
      const end = durations.startTimer({ org, server });
      return (outcome) => {
        end({ outcome });
      };
    },
  };
}

export type ServerMetrics = ReturnType<typeof registerServerMetrics>;
