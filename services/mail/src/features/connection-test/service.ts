import type { Clock } from '@platform/service-kit';
import type { TransportLimits } from '../delivery/transport-options.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { toProblem } from '../delivery/outcome.js';
import { TokenFault } from '../smtp-oauth/request-token.js';
import { type SmtpTokens, usesOauth } from '../smtp-oauth/tokens.js';
import { explain } from './advice.js';
import { type Findings, probe, type ProbeResult } from './probe.js';
import type { ConnectionReport } from './schemas.js';

export type TestConnection = (orgId: string, configuration: SmtpConfiguration) => Promise<ConnectionReport>;

function toWarnings({ tls, authenticated }: Findings, { oauth }: SmtpConfiguration): string[] {
  const warnings: string[] = [];
  if (!tls)
    warnings.push('Mails are sent unencrypted. Choose STARTTLS or implicit TLS if the server supports it.');
  if (!tls && authenticated)
    warnings.push(`The ${oauth ? 'access token' : 'password'} was sent unencrypted.`);
  return warnings;
}

/** Requests a new token, where one takes the place of a password: the present one may be older than a permission. */
async function run(
  orgId: string,
  configuration: SmtpConfiguration,
  { limits, tokens }: { readonly limits: TransportLimits; readonly tokens: Pick<SmtpTokens, 'getNew'> },
): Promise<ProbeResult> {
  try {
    const accessToken = usesOauth(configuration) ? await tokens.getNew(orgId, configuration) : undefined;
    return await probe(configuration, limits, accessToken);
  } catch (error) {
    if (error instanceof TokenFault) return { problem: toProblem(error) };
    throw error;
  }
}

export const createTestConnection =
  (limits: TransportLimits, tokens: Pick<SmtpTokens, 'getNew'>, clock: Clock): TestConnection =>
  async (orgId, configuration) => {
    const startedAt = clock();
    const result = await run(orgId, configuration, { limits, tokens });
    const common = { server: `${configuration.host}:${configuration.port}`, durationMs: clock() - startedAt };
    if ('problem' in result) {
      const { code, reply } = result.problem;
      // The report must not reveal why a host has no address: see `noAddress` in advice.ts.
      const detail = code === 'EDNS' ? undefined : result.problem.detail;
      const problem = {
        step: 'connection' as const,
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
