import type { Clock } from '@platform/service-kit';
import type { TransportLimits } from '../delivery/transport-options.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { explain } from './advice.js';
import { type Findings, probe } from './probe.js';
import type { ConnectionReport } from './schemas.js';

export type TestConnection = (configuration: SmtpConfiguration) => Promise<ConnectionReport>;

function toWarnings({ tls, authenticated, offersAuth }: Findings, { username }: SmtpConfiguration): string[] {
  const warnings: string[] = [];
  if (!tls)
    warnings.push('Mails are sent unencrypted. Choose STARTTLS or implicit TLS if the server supports it.');
  if (!tls && authenticated) warnings.push('The password was sent unencrypted.');
  if (username !== undefined && !offersAuth)
    warnings.push(
      'The server offers no login on this connection: the user name and the password are not used.',
    );
  return warnings;
}

export const createTestConnection =
  (limits: TransportLimits, clock: Clock): TestConnection =>
  async (configuration) => {
    const startedAt = clock();
    const result = await probe(configuration, limits);
    const common = { server: `${configuration.host}:${configuration.port}`, durationMs: clock() - startedAt };
    if ('problem' in result) {
      const { code, reply } = result.problem;
      // The report must not reveal why a host has no address: see `noAddress` in advice.ts.
      const detail = code === 'EDNS' ? undefined : result.problem.detail;
      const problem = {
        code,
        ...(reply && { reply }),
        ...(detail && { detail }),
        ...explain(result.problem, configuration),
      };
      return { ok: false, ...common, tls: null, authenticated: false, warnings: [], problem };
    }
    const { tls, authenticated } = result.findings;
    return {
      ok: true,
      ...common,
      tls,
      authenticated,
      warnings: toWarnings(result.findings, configuration),
      problem: null,
    };
  };
