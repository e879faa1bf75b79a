import { ownMetrics } from './metrics.js';

/** OpenTelemetry prescribes the name of this one. */
const CONVENTIONAL = 'mcp_server_operation_duration_seconds';

test('OPS-8 the metrics of the platform have one prefix, so that they are told from those of other programs', () => {
  const own = [...ownMetrics()].filter((name) => name !== CONVENTIONAL);
  expect(own).toContain('platform_build_info');
  expect(own.filter((name) => !name.startsWith('platform_'))).toEqual([]);
});
