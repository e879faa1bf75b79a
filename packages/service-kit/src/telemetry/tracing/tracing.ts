import type { Logger } from 'pino';
import type { Values } from '../../config/config.js';
import type { serviceVariables } from '../../config/service-variables.js';

/** Of the environment; what else of OTEL_* there is, such as OTEL_BSP_SCHEDULE_DELAY, the SDK reads itself. */
export type TracingConfig = Pick<
  Values<typeof serviceVariables>,
  `OTEL_${string}` & keyof typeof serviceVariables
>;

export interface Tracing {
  /** Where to tell that the collector takes no traces. What happened before is not told. */
  reportTo(log: Pick<Logger, 'warn'>): void;
  /** Sends what is recorded, and ends. */
  stop(): Promise<void>;
}
