import type { Logger } from 'pino';
import type { Values } from '../../config/config.js';
import type { serviceVariables } from '../../config/service-variables.js';

/** The variables that are read here; the SDK reads all other OTEL_* variables itself, such as OTEL_BSP_SCHEDULE_DELAY. */
export type TracingConfig = Pick<
  Values<typeof serviceVariables>,
  `OTEL_${string}` & keyof typeof serviceVariables
>;

export interface Tracing {
  /** Sets the log for failures of the collector. Earlier failures are not reported. */
  reportTo(log: Pick<Logger, 'warn'>): void;
  /** Sends the recorded spans and stops. */
  stop(): Promise<void>;
}
